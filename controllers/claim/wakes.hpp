// Which changes in the cluster are news for which claims.
#pragma once

#include "controllers/cache/informers.hpp"
#include "controllers/claim/act/writer.hpp"
#include "kube/work_queue.hpp"

namespace controllers::claim {

// Registers the informers' handlers; all must outlive the informers' run. What the writer itself writes is no
// news.
void wake_claims(Informers& informers, kube::WorkQueue& queue, const Writer& writer);

}  // namespace controllers::claim

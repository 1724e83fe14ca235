// Decides which changes in the cluster wake which claims.
#pragma once

#include "controllers/cache/informers.hpp"
#include "controllers/claim/act/writer.hpp"
#include "kube/work_queue.hpp"

namespace controllers::claim {

// Registers the informers' handlers. All arguments must outlive the informers' run. The
// writer's own writes wake no claim.
void wake_claims(Informers& informers, kube::WorkQueue& queue, const Writer& writer);

}  // namespace controllers::claim

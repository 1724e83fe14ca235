// Which changes in the cluster are news for which claims.
#pragma once

#include "controllers/informers.hpp"
#include "kube/work_queue.hpp"

namespace controllers::claim {

// Registers the informers' handlers; both must outlive the informers' run.
void wake_claims(Informers& informers, kube::WorkQueue& queue);

}  // namespace controllers::claim

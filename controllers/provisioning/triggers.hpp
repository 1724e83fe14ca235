// Decides which changes in the cluster make provisioning look again. New demand extends the batching window;
// other changes only open it. A claim's progress from step to step changes no decision.
#pragma once

#include <functional>

#include "api/core.hpp"
#include "controllers/cache/informers.hpp"

namespace controllers::provisioning {

// Triggers are called by the informers and must not throw.
struct Triggers {
    std::function<void(const api::Pod&)> begins_to_wait;   // the scheduler found no node for the pod
    std::function<void(const api::Pod&)> waits_no_longer;  // it has a node, or is gone
    std::function<void()> changed;                         // anything else that affects a decision
    // Reports whether pods wait, as some changes concern only them.
    std::function<bool()> pods_wait;
};

// Subscribes to all changes that affect a decision. Must be called before the informers run, and only once,
// because the informers keep each subscription.
void subscribe_to_changes(Informers& informers, const Triggers& triggers);

}  // namespace controllers::provisioning

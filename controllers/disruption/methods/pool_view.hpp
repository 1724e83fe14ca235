// Holds what the stores know about a pool's nodes during a pass.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "controllers/cache/kinds.hpp"
#include "controllers/claim/facts/local_volumes.hpp"
#include "controllers/disruption/rules/facts.hpp"
#include "controllers/disruption/rules/pods.hpp"
#include "controllers/disruption/rules/use.hpp"
#include "kube/store.hpp"

namespace controllers::disruption {

// Member is a claim whose Node exists.
struct Member {
    ClaimPointer claim;
    kube::Store<api::Node>::Pointer node;
    PodPointers pods;
    NodeUse use;
    LocalVolumes volumes;             // on its disk
    std::set<std::string> tied_pods;  // UIDs of pods that use volumes which hold the node
    NodeFacts facts;                  // its references point to the members above and to the view's pool
};

struct PoolView {
    using Pool = PoolPointer;
    using ControlPlane = ControlPlanePointer;

    explicit PoolView(Pool seen) : pool(std::move(seen)) {}
    // Reports whether the operator only reports what it would do.
    bool observes() const { return manager && manager->spec.mode == api::v1alpha1::Mode::Observe; }

    Pool pool;
    ControlPlane manager;  // null: not managed
    ProviderPointer provider;
    std::vector<Member> members;
    PoolUse use;
    BudgetPointers budgets;  // PodDisruptionBudgets of all namespaces
    PoolFacts facts{*pool};
    bool is_growing = false;  // claims are being launched
    api::Time now;
};

// Returns the rules that judge the member's pods. The references are the view's.
PodRules pod_rules(const PoolView& view, const Member& member, Kind kind, bool all_at_once = false);

}  // namespace controllers::disruption

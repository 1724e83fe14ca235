// Holds the cluster-wide rules that decide which pending pods get machines.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/provisioning/kinds.hpp"
#include "controllers/provisioning/world.hpp"

namespace controllers::provisioning {

struct DemandRules {
    // Pods with a lower priority get no machines.
    std::int32_t expendable_below = std::numeric_limits<std::int32_t>::min();
    KindHistories kinds;
    std::function<std::string(const api::Pod&)> kind_of;  // empty: kinds do not matter
    // Names nodes where preemption for a pod will not succeed, because they are leaving or take no pods.
    std::set<std::string> void_nominations;
    // UIDs of pods nominated for a node where the scheduler makes no room that suffices: their room exists,
    // or never will.
    std::set<std::string> unfounded_nominations;
    // UIDs of pods that are nominated for the machine launched for them: they wait as before.
    std::set<std::string> told_of_their_machine;
    std::optional<api::Time> look_again;  // when time alone changes the result of these rules
};

// Limits how long CSI drivers may take to report a new node's room: external-provisioner asks once a minute.
inline constexpr std::chrono::minutes kReportingPatience{2};
// Returns until when the claim's Node may still get its room reported; nullopt: it is not in service.
std::optional<api::Time> settles_until(const NodeSmithClaim& claim);

// Returns the lowest value of all ControlPlanes, because their pools serve the same pods.
std::int32_t expendable_below(const ControlPlanes& control_planes);

// Limits how long after a pod's creation the scheduler may take to evict the pods on its nominated node.
inline constexpr std::chrono::minutes kPreemptionPatience{1};

// Returns Respect if all ControlPlanes request it.
scheduling::PreferencePolicy preferences_of(const ControlPlanes& control_planes);

DemandRules demand_rules(const Informers& informers, const PodPointers& unschedulable, api::Time now);

}  // namespace controllers::provisioning

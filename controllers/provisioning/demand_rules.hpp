// What of the cluster decides, besides the pods themselves, which pods are launched for.
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
    // Pods of lower priority are launched nothing for.
    std::int32_t expendable_below = std::numeric_limits<std::int32_t>::min();
    KindHistories kinds;
    std::function<std::string(const api::Pod&)> kind_of;  // empty: kinds do not matter
    // Nodes on which the scheduler makes room for a pod by preemption, but that will have none: they leave,
    // or their pods did not end in time.
    std::set<std::string> void_nominations;
    // UIDs of pods that are nominated for a node where no pod is ending: their room is there, or will not be.
    std::set<std::string> unfounded_nominations;
    // UIDs of pods that are nominated for a machine of their own: they wait as before.
    std::set<std::string> told_of_their_machine;
    std::optional<api::Time> look_again;  // when time alone changes what follows from these
};

// How long CSI drivers may take to report the room of a new node: external-provisioner asks once a minute.
inline constexpr std::chrono::minutes kReportingPatience{2};
// Until when the room on the claim's Node may be reported yet; nullopt: it is not in service.
std::optional<api::Time> settles_until(const NodeSmithClaim& claim);

// The lowest figure of all ControlPlanes: all their pools serve the same pods.
std::int32_t expendable_below(const ControlPlanes& control_planes);

// How long the scheduler may take after a pod's creation to evict those whose room it has nominated the pod
// for.
inline constexpr std::chrono::minutes kPreemptionPatience{1};

// Respect only where all ControlPlanes ask for it.
scheduling::Preferences preferences_of(const ControlPlanes& control_planes);

DemandRules demand_rules(const Informers& informers, const PodPointers& unschedulable, api::Time now);

}  // namespace controllers::provisioning

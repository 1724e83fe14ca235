// Decides which Node a waiting pod's status.nominatedNodeName names. It is the machine launched for it, while
// it has room there, until the scheduler had time to use it. Pure.
// https://www.kubernetes.dev/resources/keps/5278/ (on by default from Kubernetes 1.35 on)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/provisioning/promises.hpp"

namespace controllers::provisioning {

// This is the first Kubernetes 1.x whose scheduler accepts nominations by others.
inline constexpr int kFirstMinorWithNominations = 35;

// Reports whether the pod is nominated for the Node of a claim launched for it. The scheduler
// may have made the same nomination.
bool is_told_of_its_machine(const Informers& informers, const api::Pod& pod);

struct Nomination {
    // New value of status.nominatedNodeName; empty: it is removed; nullopt: it is unchanged.
    std::optional<std::string> node;
    std::optional<api::Time> until;  // when time alone changes this
};

// Told records the nominations that this process made for a pod.
struct Told {
    std::string node;      // the last one; empty: none
    bool is_open = false;  // it was open to pods then
    int times = 0;         // nominations of that Node in that state
};
// The scheduler removes a nomination after each failed attempt. It retries all waiting pods when a machine
// joins (observed with 1.36). So nominations are repeated, but not forever. This limit applies once before
// the Node is open to pods and once afterwards.
inline constexpr int kMostTellings = 8;

// Reports whether no taint of the Node's joining keeps pods away.
bool is_open(const api::Node& node);

// Returns the nomination. `promises` are all of the pod's. A nomination that is not known to be ours is kept.
Nomination nomination(const Informers& informers, const api::Pod& pod, const std::vector<Promise>& promises,
                      const Told& told, api::Time now);

}  // namespace controllers::provisioning

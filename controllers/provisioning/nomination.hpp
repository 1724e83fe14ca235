// Which Node a waiting pod is told of in status.nominatedNodeName: that of the machine that was bought for
// it, if it has room there, until the scheduler had its time to use it. Pure.
// https://www.kubernetes.dev/resources/keps/5278/ (on by default from Kubernetes 1.35 on)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/provisioning/promises.hpp"

namespace controllers::provisioning {

// The first Kubernetes 1.x whose scheduler takes a nomination of others than itself.
inline constexpr int kFirstMinorWithNominations = 35;

// The pod is nominated for the Node of a claim that was bought for it. The scheduler, too, may have said so:
// then it agrees with us.
bool is_told_of_its_machine(const Informers& informers, const api::Pod& pod);

struct Nomination {
    // What status.nominatedNodeName becomes: empty, it goes; nullopt: it stays as it is.
    std::optional<std::string> node;
    std::optional<api::Time> until;  // when time alone changes this
};

// What this process has told a pod of.
struct Told {
    std::string node;      // the last one; empty: none
    bool is_open = false;  // it was by then
    int times = 0;         // how often of that
};
// The scheduler takes a nomination off at each attempt that fails, and tries all that wait whenever a machine
// joins (seen with 1.36). So it is told again, but never for ever: so often while the Node is not open to
// pods yet, and so often afterwards.
inline constexpr int kMostTellings = 8;

// Nothing that belongs to its joining keeps pods away.
bool is_open(const api::Node& node);

// `promises`: all of the pod's. What is not known to be ours stays.
Nomination nomination(const Informers& informers, const api::Pod& pod, const std::vector<Promise>& promises,
                      const Told& told, api::Time now);

}  // namespace controllers::provisioning

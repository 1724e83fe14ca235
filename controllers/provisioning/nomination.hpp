// Which Node a waiting pod is told of in status.nominatedNodeName: that of the machine that was bought for
// it, until the scheduler had its time to use it. Pure. https://www.kubernetes.dev/resources/keps/5278/ (on
// by default from Kubernetes 1.35 on)
#pragma once

#include <optional>
#include <string>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"

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

// `bought`: the claims that were bought for the pod. `told`: the Node that this process has named to it
// already, which it names once only; empty: none. What is not known to be ours stays.
Nomination nomination(const Informers& informers, const api::Pod& pod, const ClaimPointers& bought,
                      const std::string& told, api::Time now);

}  // namespace controllers::provisioning

// Takes a claim from nothing to a running machine: admission within the limits, then one step of the provider
// at a time, each recorded.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "controllers/claim/act/actor.hpp"
#include "controllers/claim/act/placement_turns.hpp"
#include "controllers/services/addresses.hpp"
#include "controllers/services/reservations.hpp"
#include "kube/controller.hpp"

namespace controllers::claim {

class Launcher : Actor {
public:
    Launcher(const Means& means, Reservations& reservations, Addresses& addresses, PlacementTurns& placements)
        : Actor(means), reservations_(reservations), addresses_(addresses), placements_(placements) {}

    // Reserves a place within the limits for a claim that a user made; status.providerRef shows that it has
    // one.
    asio::awaitable<kube::Result> admit(Observation observation);
    asio::awaitable<kube::Result> launch(Observation observation);

private:
    // With the claim's static address in the status; nullopt: it has to wait for one. Before it is placed.
    asio::awaitable<std::optional<Observation>> address(Observation observation);
    // With what the machine is given, once it has a place: its token's ID, and what may be told to anybody.
    ClaimStatus with_handout(const Observation& observation, ClaimStatus status,
                             const api::v1alpha1::ClaimBoot& boot) const;
    asio::awaitable<providers::EnsureResult> ensure(Observation observation,
                                                    std::shared_ptr<providers::Provider> provider);
    asio::awaitable<providers::EnsureResult> place(providers::MachineSpec spec, ClaimPointer claim,
                                                   std::shared_ptr<providers::Provider> provider);
    providers::MachineSpec spec_of(const Observation& observation) const;

    Reservations& reservations_;
    Addresses& addresses_;
    PlacementTurns& placements_;
};

}  // namespace controllers::claim

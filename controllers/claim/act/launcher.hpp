// Takes a claim from nothing to a running machine. It checks the limits, then takes one
// recorded step of the provider at a time.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "controllers/claim/act/actor.hpp"
#include "controllers/claim/act/mac_addresses.hpp"
#include "controllers/claim/act/placement_turns.hpp"
#include "controllers/services/addresses.hpp"
#include "controllers/services/reservations.hpp"
#include "kube/controller.hpp"

namespace controllers::claim {

class Launcher : Actor {
public:
    Launcher(const Means& means, Reservations& reservations, Addresses& addresses, PlacementTurns& placements)
        : Actor(means),
          reservations_(reservations),
          addresses_(addresses),
          placements_(placements),
          mac_addresses_(means.context.informers) {}

    // Reserves a place within the limits for a claim that a user created.
    // status.providerRef then shows the reservation.
    asio::awaitable<kube::Result> admit(Observation observation);
    asio::awaitable<kube::Result> launch(Observation observation);

private:
    bool lost_addresses(const Observation& observation) const;
    // Returns false if the provider's Secret is gone and nothing was created yet.
    asio::awaitable<bool> protect_credentials(Observation observation);
    // Returns the observation with the claim's static address in the status; nullopt: it must wait for
    // one. Runs before the placement.
    asio::awaitable<std::optional<Observation>> address(Observation observation);
    // Handout holds what the machine gets, without secrets.
    struct Handout {
        api::v1alpha1::ClaimBoot boot;
        std::vector<api::v1alpha1::ClaimInterface> interfaces;
    };
    // Returns nullopt if the claim must wait for a MAC address.
    asio::awaitable<std::optional<Handout>> handout(Observation observation);
    // Adds the handout and its token's ID to the status, once the machine has a place.
    ClaimStatus with_handout(const Observation& observation, ClaimStatus status,
                             const Handout& handout) const;
    asio::awaitable<providers::EnsureResult> ensure(Observation observation,
                                                    std::shared_ptr<providers::Provider> provider);
    asio::awaitable<providers::EnsureResult> place(providers::MachineSpec spec, ClaimPointer claim,
                                                   std::shared_ptr<providers::Provider> provider);
    providers::MachineSpec spec_of(const Observation& observation) const;

    Reservations& reservations_;
    Addresses& addresses_;
    PlacementTurns& placements_;
    MacAddresses mac_addresses_;
};

}  // namespace controllers::claim

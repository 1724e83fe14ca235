// Takes a claim from nothing to a running machine: admission within the limits, then one step of the provider
// at a time, each recorded.
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

    // Reserves a place within the limits for a claim that a user made; status.providerRef shows that it has
    // one.
    asio::awaitable<kube::Result> admit(Observation observation);
    asio::awaitable<kube::Result> launch(Observation observation);

private:
    bool lost_addresses(const Observation& observation) const;
    // Returns false if the provider's Secret is gone and nothing was made yet.
    asio::awaitable<bool> protect_credentials(Observation observation);
    // With the claim's static address in the status; nullopt: it has to wait for one. Before it is placed.
    asio::awaitable<std::optional<Observation>> address(Observation observation);
    // What the machine is given and may be told to anybody.
    struct Handout {
        api::v1alpha1::ClaimBoot boot;
        std::vector<api::v1alpha1::ClaimInterface> interfaces;
    };
    // nullopt: it has to wait for a MAC address.
    asio::awaitable<std::optional<Handout>> handout(Observation observation);
    // With that and its token's ID, once it has a place.
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

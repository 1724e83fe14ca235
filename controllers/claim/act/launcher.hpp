// Takes a claim from nothing to a running machine: admission within the limits, then one step of the provider
// at a time, each recorded.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "controllers/claim/act/boot_data.hpp"
#include "controllers/claim/act/placement_turns.hpp"
#include "controllers/claim/act/writer.hpp"
#include "controllers/services/addresses.hpp"
#include "controllers/services/provider_instances.hpp"
#include "controllers/services/reservations.hpp"
#include "kube/controller.hpp"

namespace controllers::claim {

class Launcher {
public:
    // All must outlive this.
    Launcher(base::Clock& clock, Writer& writer, ProviderInstances& instances, Reservations& reservations,
             Addresses& addresses, PlacementTurns& placements, BootData& boot_data);

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

    base::Clock& clock_;
    Writer& writer_;
    ProviderInstances& instances_;
    Reservations& reservations_;
    Addresses& addresses_;
    PlacementTurns& placements_;
    BootData& boot_data_;
};

}  // namespace controllers::claim

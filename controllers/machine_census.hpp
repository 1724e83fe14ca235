// Compares a provider's machines with the claims. Reports to the claims' reconciler which machines
// have moved, vanished or returned.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controllers/cache/context.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/services/machine_reports.hpp"
#include "controllers/services/provider_instances.hpp"

namespace controllers {

// Asks the provider whether the machine is certainly gone. A machine that cannot be examined
// counts as present, so that it does not hide all others. Its host may be down, its mark
// edited or its credentials unreadable.
asio::awaitable<bool> verified_gone(std::shared_ptr<providers::Provider> backend,
                                    providers::MachineIdentity identity, providers::MachineRecord record);

class MachineCensus : InContext {
public:
    MachineCensus(const Context& context, ProviderInstances& instances, MachineReports& machine_reports)
        : InContext(context), instances_(instances), machine_reports_(machine_reports) {}

    // Reports claims whose machine has moved or was missing before.
    void report_found(const ProviderPointer& object, const std::vector<providers::Machine>& machines);
    // Reports claims whose machine ran or is kept for inspection, and is no longer listed by the provider.
    asio::awaitable<void> report_vanished(ProviderPointer object,
                                          std::shared_ptr<providers::Provider> backend,
                                          std::vector<providers::Machine> machines);

private:
    using Backend = std::shared_ptr<providers::Provider>;

    // Asks a person about machines that vanished together. `how_many` is empty if there is no question.
    asio::awaitable<void> report_many(ProviderPointer object, std::vector<ClaimPointer> vanished,
                                      std::string how_many);

    ProviderInstances& instances_;
    MachineReports& machine_reports_;
};

}  // namespace controllers

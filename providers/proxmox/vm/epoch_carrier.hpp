// Keeps the epoch of the operator's leader in the description of one of its VMs, so that the operator of a
// copied control plane is noticed.
#pragma once

#include <map>
#include <string>

#include "providers/capabilities.hpp"
#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

class EpochCarrier final : public EpochKeeper {
public:
    // All arguments must outlive this.
    EpochCarrier(const Settings& settings, ProxmoxClient& client, ClusterView& view, VmFinder& machines,
                 base::Clock& clock)
        : settings_(settings), client_(client), view_(view), machines_(machines), clock_(clock) {}

    // Reads the finished VM with the lowest ID that is ours, on a host that is online, and not locked. It
    // sends one request besides those of a list of machines.
    asio::awaitable<EpochLook> read_epoch(ExpectedUuid expected) override;
    asio::awaitable<void> write_epoch(EpochSlot slot, EpochRecord record) override;

private:
    bool is_ours(const MachineIdentity& identity) const;
    // Reads one VM; nullopt: it is not ours, or it is not finished.
    asio::awaitable<std::optional<EpochSlot>> read_slot(std::string host, std::int64_t vmid,
                                                        ExpectedUuid expected);

    const Settings& settings_;
    ProxmoxClient& client_;
    ClusterView& view_;
    VmFinder& machines_;
    base::Clock& clock_;
    struct Refusal {
        int count = 0;
        base::TimePoint until;
    };
    std::map<std::string, Refusal> refusals_;  // VMs that took no record, by ID
};

}  // namespace providers::proxmox

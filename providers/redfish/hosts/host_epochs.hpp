// Keeps the epoch of the operator's leader beside the lock in the AssetTag of one host, so that the operator
// of a copied control plane is noticed.
#pragma once

#include <string>

#include "providers/capabilities.hpp"
#include "providers/redfish/hosts/host_lock.hpp"

namespace providers::redfish {

// It must be used only if hosts are locked.
class HostEpochs final : public EpochKeeper {
public:
    // All arguments must outlive this.
    HostEpochs(const RedfishSettings& settings, BmcConnections& fleet, base::Clock& clock)
        : settings_(settings), fleet_(fleet), clock_(clock), lock_(settings, fleet, clock) {}

    // Reads the first host by name that is on with a mark of this cluster, whichever claim it names. It asks
    // the BMCs of hosts that may bear one: at first all, later those that bore one when last looked at. A
    // host that does not answer is waited for, and passed over after some minutes, or if its own look says
    // so. If no host with a claim answers, ProviderError says why.
    asio::awaitable<EpochLook> read_epoch(ExpectedUuid expected) override;
    // Also reads what the BMC kept. One that does not keep the record is passed over for a day.
    asio::awaitable<void> write_epoch(EpochSlot slot, EpochRecord record) override;

private:
    struct Sight {
        std::optional<EpochSlot> slot;
        std::string unread;  // why the host could not be read; empty: it was
        bool is_marked = false;
    };
    // Throws ProviderError if the host has to be waited for.
    asio::awaitable<Sight> look_at(Host host);
    asio::awaitable<Sight> visit(Host host, std::shared_ptr<Station> station);
    // Waits until the BMC shows the text there, and reports whether it does. Otherwise restores the tag.
    asio::awaitable<bool> is_kept(std::shared_ptr<Station> station, TagPlace place, std::string text,
                                  base::Duration patience);

    const RedfishSettings& settings_;
    BmcConnections& fleet_;
    base::Clock& clock_;
    HostLock lock_;
};

}  // namespace providers::redfish

// Keeps the epoch of the operator's leader beside the lock in the AssetTag of one host, so that the operator
// of a copied control plane is noticed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "providers/capabilities.hpp"
#include "providers/redfish/hosts/host_lock.hpp"

namespace providers::redfish {

// It must be used only if hosts are locked.
class HostEpochs final : public EpochKeeper {
public:
    // All arguments must outlive this.
    HostEpochs(const RedfishSettings& settings, BmcConnections& fleet, base::Clock& clock)
        : settings_(settings), fleet_(fleet), clock_(clock), lock_(settings, fleet, clock) {}

    // Reads the first host by name that is on with a record beside a mark of this cluster, whichever claim it
    // names; or else the first with such a mark that takes a record. It asks the BMCs of hosts that may bear
    // one: at first all, later those that bore one when last looked at. A host that does not answer is waited
    // for, and passed over after some minutes. If its own look says so, it is not even asked. If no host that
    // served a claim answers, ProviderError says why.
    asio::awaitable<EpochLook> read_epoch(ExpectedUuid expected) override;
    // Also reads what the BMC kept. One that refuses the record is passed over for pauses that grow from a
    // minute to a day, and the next host without a record gets it at once. If a BMC may only be busy, it is
    // tried for some minutes before. All hosts share these minutes, as a rack of hosts often refuses alike.
    asio::awaitable<void> write_epoch(EpochSlot slot, EpochRecord record) override;

private:
    struct Sight {
        std::optional<EpochSlot> slot;
        std::string unread;  // why the host could not be read; empty: it was
        bool is_marked = false;
    };
    // Throws ProviderError if the host has to be waited for.
    asio::awaitable<Sight> look_at(Host host);
    // Returns the slots that take a record and bear none; empty: one bears a record.
    asio::awaitable<std::vector<EpochSlot>> free_slots();
    // Returns why the BMC of the slot's host is passed over; empty: it has the record. Throws ProviderError
    // if the host has to be waited for.
    asio::awaitable<std::string> write_at(EpochSlot slot, EpochRecord record);
    // Reports whether a BMC that may take the record a moment later is still waited for.
    bool has_patience();
    asio::awaitable<Sight> visit(Host host, std::shared_ptr<Station> station);
    struct Attempt {
        std::string refusal;    // empty: it was written
        bool may_pass = false;  // true if the BMC may take it a moment later
    };
    asio::awaitable<Attempt> try_to_write(std::shared_ptr<Station> station, TagPlace place, std::string text);
    // Waits until the BMC shows the text there, and reports whether it does. Restores a tag that was cut off.
    asio::awaitable<bool> is_kept(std::shared_ptr<Station> station, TagPlace place, std::string text,
                                  base::Duration patience);

    const RedfishSettings& settings_;
    BmcConnections& fleet_;
    base::Clock& clock_;
    HostLock lock_;
    struct Failures {
        base::TimePoint since;
        base::TimePoint last;
    };
    std::optional<Failures> failures_;  // of writes by any host in a row; nullopt: the last write succeeded
};

}  // namespace providers::redfish

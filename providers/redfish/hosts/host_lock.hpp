// The lock on a host that operators of other clusters can see: a mark of claim and cluster in the AssetTag of
// its system or chassis. It does nothing unless spec.redfish.hostLock enables it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <vector>

#include "providers/host_report.hpp"
#include "providers/redfish/bmc/asset_tag.hpp"
#include "providers/redfish/hosts/bmc_connections.hpp"

namespace providers::redfish {

enum class LockOutcome {
    held,
    others,     // another cluster has it
    unusable,   // nothing can be written there, see `reason`
    undecided,  // somebody else wrote at the same time: look again
};

struct LockAttempt {
    LockOutcome outcome = LockOutcome::held;
    std::string reason;  // in CamelCase
    std::string message;
};

// HostLock reads and writes the mark. All methods except is_wanted() must be called during a visit to the
// host's BMC, right after `system` was read. They throw RedfishError and FencedError.
class HostLock {
public:
    // All arguments must outlive this.
    HostLock(const RedfishSettings& settings, BmcConnections& fleet, base::Clock& clock)
        : settings_(settings), fleet_(fleet), clock_(clock) {}

    bool is_wanted() const { return locks_hosts(settings_); }
    // Takes the lock on a claimed host that is off. This takes some seconds, so that two simultaneous writers
    // both see the last one.
    asio::awaitable<LockAttempt> take(MachineIdentity identity, Host host, std::shared_ptr<Station> station,
                                      System system);
    // Reports whether the BMC refused the mark a short time ago, so that it is not asked again now.
    bool is_refused(const Station& station) const;
    // Checks the lock again directly before the host is turned on.
    asio::awaitable<bool> still_holds(MachineIdentity identity, std::shared_ptr<Station> station,
                                      System system);
    // Reports whether another cluster has the host and this claim has lost it.
    asio::awaitable<bool> is_of_others(MachineIdentity identity, std::shared_ptr<Station> station,
                                       System system);
    // Removes every mark of this cluster, as far as the BMC allows it, and reports by an Event what it does
    // not. The host must be off and the claim's, or left to its user.
    asio::awaitable<void> release(MachineIdentity identity, Host host, std::shared_ptr<Station> station);
    // Reports by an Event that a host may keep the mark of this cluster. Later looks retry to remove it, but
    // a host that is being deleted has none.
    void report_left(const Host& host, const std::string& why);
    // Returns what others see, and repairs what a crash, a restored backup or a forgetful BMC left. Removes
    // our mark from a free host that is off. Writes a missing mark again for a host that is on for its claim.
    // nullopt: hosts are not locked.
    asio::awaitable<std::optional<LockReport>> look(Host host, std::shared_ptr<Station> station,
                                                    System system);

    struct OwnPlace {
        TagPlace place;
        bool is_of_owner = false;  // its mark is that of the host's claim
    };
    // Returns the first place that bears a mark of this cluster, whichever claim it names; nullopt: none.
    asio::awaitable<std::optional<OwnPlace>> own_place(Host host, std::shared_ptr<Station> station,
                                                       System system);

private:
    using Places = std::vector<TagPlace>;

    TagMeaning meaning(const TagPlace& place, const std::string& mark) const;
    const TagPlace* find(const Places& places, const std::string& mark, TagMeaning wanted) const;
    std::optional<LockAttempt> why_not(const Places& places, const std::string& mark,
                                       bool overrules_others) const;
    // Returns the places for marks; nullopt: the account may not read the only one.
    asio::awaitable<std::optional<Places>> readable_places(std::shared_ptr<Station> station, System system);
    asio::awaitable<LockAttempt> write_into_any(Places places, std::string mark, bool overrules_others,
                                                std::shared_ptr<Station> station);
    asio::awaitable<LockAttempt> settle(TagPlace place, std::string mark, TagWrite answer,
                                        std::shared_ptr<Station> station);
    // Reports whether the tag is gone.
    asio::awaitable<bool> clear(TagPlace place, std::shared_ptr<Station> station);
    asio::awaitable<bool> shows_other_tag(TagPlace& place, std::shared_ptr<Station> station);
    void note_own_mark(Station& station, const Places& places) const;
    asio::awaitable<LockReport> mend(Host host, Places places, std::shared_ptr<Station> station,
                                     System system);
    asio::awaitable<LockReport> mend_free(TagPlace place, std::shared_ptr<Station> station);
    asio::awaitable<LockReport> mend_used(TagPlace place, std::string mark, std::shared_ptr<Station> station);
    MachineIdentity owner_of(const Host& host) const;

    const RedfishSettings& settings_;
    BmcConnections& fleet_;
    base::Clock& clock_;
};

}  // namespace providers::redfish

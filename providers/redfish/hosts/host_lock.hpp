// The lock on a host that the operators of other clusters can see: a mark of claim and cluster in the
// AssetTag of its system or chassis. Does nothing unless spec.redfish.hostLock asks for it.
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
    unusable,   // nothing can be written there, for `reason`
    undecided,  // somebody else wrote at the same moment: look again
};

struct LockAttempt {
    LockOutcome outcome = LockOutcome::held;
    std::string reason;  // CamelCase
    std::string message;
};

// All but is_wanted() are made during a visit to the host's BMC, of which `system` was just read, and throw
// RedfishError and FencedError.
class HostLock {
public:
    // All must outlive this.
    HostLock(const Settings& settings, HostInventory& inventory, base::Clock& clock)
        : settings_(settings), inventory_(inventory), clock_(clock) {}

    bool is_wanted() const { return settings_.spec.hostLock.field == api::v1alpha1::HostLockField::AssetTag; }
    // Of a host that the claim has and that is off. Takes some seconds: two that write at the same moment
    // must both see who was last.
    asio::awaitable<LockAttempt> take(MachineIdentity identity, Host host, std::shared_ptr<Station> station,
                                      System system);
    // Asked again right before the host is turned on.
    asio::awaitable<bool> still_holds(MachineIdentity identity, std::shared_ptr<Station> station,
                                      System system);
    // Another cluster has the host, and this claim has it no more.
    asio::awaitable<bool> is_of_others(MachineIdentity identity, std::shared_ptr<Station> station,
                                       System system);
    // Takes back every mark of this cluster, as far as the BMC lets it: of a host that is off and the
    // claim's, or that is left to its user.
    asio::awaitable<void> release(MachineIdentity identity, std::shared_ptr<Station> station, System system);
    // What others see. Mends what a crash, a restored backup or a BMC that forgets has left: a mark of this
    // cluster on a host that is off and nobody's is taken back, one that is missing on a host that is on for
    // its claim is written again. nullopt: not wanted.
    asio::awaitable<std::optional<LockReport>> look(Host host, std::shared_ptr<Station> station,
                                                    System system);

private:
    using Places = std::vector<TagPlace>;

    TagMeaning meaning(const TagPlace& place, const std::string& mark) const;
    const TagPlace* find(const Places& places, const std::string& mark, TagMeaning wanted) const;
    std::optional<LockAttempt> why_not(const Places& places, const std::string& mark,
                                       bool overrules_others) const;
    asio::awaitable<LockAttempt> write_into_any(Places places, std::string mark, bool overrules_others,
                                                std::shared_ptr<Station> station);
    asio::awaitable<LockAttempt> settle(TagPlace place, std::string mark, base::Duration patience,
                                        std::shared_ptr<Station> station);
    // Whether it is free now.
    asio::awaitable<bool> clear(TagPlace place, std::shared_ptr<Station> station);
    asio::awaitable<LockReport> mend(Host host, Places places, std::shared_ptr<Station> station,
                                     System system);
    asio::awaitable<LockReport> mend_free(TagPlace place, std::shared_ptr<Station> station);
    asio::awaitable<LockReport> mend_used(TagPlace place, std::string mark, std::shared_ptr<Station> station);
    MachineIdentity owner_of(const Host& host) const;

    const Settings& settings_;
    HostInventory& inventory_;
    base::Clock& clock_;
};

}  // namespace providers::redfish

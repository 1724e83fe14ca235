// From a host that a claim has to a host that is off, clean and free.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>

#include "providers/redfish/power/waker.hpp"
#include "providers/removal.hpp"

namespace providers::redfish {

class Sleeper {
public:
    struct Command {
        MachineIdentity identity;
        InUseCheck in_use;
    };
    // All must outlive this.
    Sleeper(const Settings& settings, BmcConnections& fleet, Binding& binding, ProgressBook& progress,
            base::Clock& clock)
        : settings_(settings),
          fleet_(fleet),
          binding_(binding),
          progress_(progress),
          clock_(clock),
          lock_(settings, fleet.inventory(), clock),
          preparation_(settings, fleet) {}

    // Provider::remove.
    asio::awaitable<RemoveResult> remove(MachineIdentity identity, MachineRecord record, InUseCheck in_use);
    // Provider::switch_power to off, of a host that its claim has.
    asio::awaitable<bool> switch_off(Command command, Host host, std::shared_ptr<Station> station,
                                     System system);
    // Provider::release: the host stays on and is free.
    asio::awaitable<bool> release(MachineIdentity identity, MachineRecord record);

private:
    // What is known of the erasure of a host's drives; lost in a restart, after which it begins anew.
    struct Wipe {
        std::map<std::string, std::string> tasks;  // by drive; empty: the drive is erased
        int attempts = 0;
    };

    asio::awaitable<RemoveResult> visit(Command command, Host host);
    asio::awaitable<RemoveResult> look_after_lost(Command command, Host host);
    asio::awaitable<RemoveResult> step(Command command, Host host, std::shared_ptr<Station> station);
    asio::awaitable<void> undo_preparation(MachineIdentity identity, Host host);
    asio::awaitable<RemoveResult> give_back_untouched(MachineIdentity identity, std::string name);
    // Somebody else turned it on, or may have: its power is not touched.
    asio::awaitable<RemoveResult> leave_on(Command command, Host host);
    asio::awaitable<RemoveResult> turn_off(Command command, Host host, std::shared_ptr<Station> station,
                                           System system);
    // Makes the request that is due. An Event says before its power is cut, and why.
    asio::awaitable<void> press(OffStep step, Command command, Host host, std::shared_ptr<Station> station,
                                System system);
    asio::awaitable<bool> is_task_under_way(std::shared_ptr<Station> station, Progress& progress);
    asio::awaitable<RemoveResult> tidy(MachineIdentity identity, Host host, std::shared_ptr<Station> station,
                                       System system);
    asio::awaitable<void> unlock(MachineIdentity identity, Host host);
    // nullopt: every drive is erased.
    asio::awaitable<std::optional<RemoveResult>> wipe(Host host, std::shared_ptr<Station> station,
                                                      System system);
    asio::awaitable<std::optional<RemoveResult>> erase(std::string name, std::string drive,
                                                       std::shared_ptr<Station> station);
    asio::awaitable<RemoveResult> give_back(Host host);

    const Settings& settings_;
    BmcConnections& fleet_;
    Binding& binding_;
    ProgressBook& progress_;
    base::Clock& clock_;
    HostLock lock_;
    BootPreparation preparation_;
    std::map<std::string, Wipe> wipes_;  // by host
};

}  // namespace providers::redfish

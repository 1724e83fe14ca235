// Sleeper turns a claimed host off, cleans it and gives it back.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>

#include "providers/redfish/power/eraser.hpp"
#include "providers/redfish/power/waker.hpp"
#include "providers/removal.hpp"

namespace providers::redfish {

class Sleeper {
public:
    struct Command {
        MachineIdentity identity;
        InUseCheck in_use;
    };
    // All arguments must outlive this.
    Sleeper(const RedfishSettings& settings, BmcConnections& fleet, Binding& binding, ProgressBook& progress,
            base::Clock& clock)
        : settings_(settings),
          fleet_(fleet),
          binding_(binding),
          progress_(progress),
          clock_(clock),
          lock_(settings, fleet, clock),
          preparation_(settings, fleet),
          eraser_(fleet, binding, clock) {}

    // Implements Provider::remove.
    asio::awaitable<RemoveResult> remove(MachineIdentity identity, MachineRecord record, InUseCheck in_use);
    // Implements Provider::switch_power to off, for a host that its claim has.
    asio::awaitable<bool> switch_off(Command command, Host host, std::shared_ptr<Station> station,
                                     System system);
    // Implements Provider::release: the host stays on and becomes free.
    asio::awaitable<bool> release(MachineIdentity identity, MachineRecord record);

private:
    asio::awaitable<RemoveResult> visit(Command command, Host host);
    asio::awaitable<RemoveResult> look_after_lost(Command command, Host host);
    asio::awaitable<RemoveResult> step(Command command, Host host, std::shared_ptr<Station> station);
    struct Undoing {
        std::optional<RemoveResult> obstacle = {};  // why the removal waits; nullopt: it does not
        bool is_done = false;                       // nothing of the preparation is left
    };
    asio::awaitable<Undoing> undo_preparation(MachineIdentity identity, Host host);
    asio::awaitable<RemoveResult> give_back_untouched(MachineIdentity identity, std::string name,
                                                      bool is_undone);
    // Gives the host back with its power unchanged, as somebody else turned it on, or may have.
    asio::awaitable<RemoveResult> leave_on(Command command, Host host, std::shared_ptr<Station> station,
                                           System system);
    asio::awaitable<RemoveResult> turn_off(Command command, Host host, std::shared_ptr<Station> station,
                                           System system);
    // Sends the request that is due. Before its power is cut, an Event says why.
    asio::awaitable<void> press(OffStep step, Command command, Host host, std::shared_ptr<Station> station,
                                System system);
    asio::awaitable<bool> is_task_under_way(std::shared_ptr<Station> station, Progress& progress);
    // Returns why the host must not be changed; nullopt: no other cluster can take it meanwhile.
    asio::awaitable<std::optional<RemoveResult>> keep_locked(MachineIdentity identity, Host host,
                                                             std::shared_ptr<Station> station, System system);
    asio::awaitable<void> end_lock(MachineIdentity identity, Host host, std::shared_ptr<Station> station);
    asio::awaitable<void> undo_boot(MachineIdentity identity, Host host, std::shared_ptr<Station> station,
                                    System system);
    asio::awaitable<RemoveResult> tidy(MachineIdentity identity, Host host, std::shared_ptr<Station> station,
                                       System system);
    asio::awaitable<void> unlock(MachineIdentity identity, Host host);
    // `is_undone`: nothing of the preparation for a boot is left. Otherwise a later look undoes it.
    asio::awaitable<RemoveResult> give_back(Host host, bool is_undone);

    const RedfishSettings& settings_;
    BmcConnections& fleet_;
    Binding& binding_;
    ProgressBook& progress_;
    base::Clock& clock_;
    HostLock lock_;
    BootPreparation preparation_;
    Eraser eraser_;
    // Hosts without an owner that were off at all looks since then, by UID of the claim that looks for its
    // machine.
    std::map<std::string, base::TimePoint> lost_off_;
};

}  // namespace providers::redfish

// Finds a host for a claim and turns it on.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <set>
#include <string>

#include "providers/launch.hpp"
#include "providers/redfish/hosts/binding.hpp"
#include "providers/redfish/hosts/boot_preparation.hpp"
#include "providers/redfish/hosts/host_lock.hpp"
#include "providers/redfish/power/power_step.hpp"

namespace providers::redfish {

// ProgressBook keeps the progress by host; each entry belongs to the claim that has the host.
class ProgressBook {
public:
    Progress& of(const std::string& host, const std::string& claim_uid) {
        auto& entry = entries_[host];
        if (entry.first != claim_uid) entry = {claim_uid, {}};
        return entry.second;
    }
    void forget(const std::string& host) { entries_.erase(host); }

private:
    std::map<std::string, std::pair<std::string, Progress>> entries_;
};

class Waker {
public:
    // All arguments must outlive this.
    Waker(const RedfishSettings& settings, BmcConnections& fleet, Binding& binding, ProgressBook& progress,
          base::Clock& clock)
        : settings_(settings),
          fleet_(fleet),
          binding_(binding),
          progress_(progress),
          clock_(clock),
          lock_(settings, fleet, clock),
          preparation_(settings, fleet) {}

    // Implements Provider::ensure.
    asio::awaitable<EnsureResult> ensure(MachineSpec spec);
    // Implements Provider::switch_power to on, for a host that its claim has and that is off.
    asio::awaitable<void> switch_on(MachineIdentity identity, Host host, std::shared_ptr<Station> station,
                                    System system);

private:
    EnsureResult place(const MachineSpec& spec, const std::set<std::string>& excluded) const;
    asio::awaitable<EnsureResult> wake(MachineSpec spec, Host host);
    asio::awaitable<EnsureResult> try_to_wake(MachineSpec spec, Host host);
    asio::awaitable<EnsureResult> step(MachineSpec spec, Host host, std::shared_ptr<Station> station);
    asio::awaitable<EnsureResult> turn_on(MachineSpec spec, Host host, std::shared_ptr<Station> station,
                                          System system);
    // Returns nullopt if other clusters can see that the claim has the host, or if hosts are not locked.
    asio::awaitable<std::optional<EnsureResult>> lock(MachineSpec spec, Host host,
                                                      std::shared_ptr<Station> station, System system);
    std::string why_too_late(const System& system, const Progress& progress) const;
    asio::awaitable<bool> is_task_under_way(std::shared_ptr<Station> station, Progress& progress);
    asio::awaitable<EnsureResult> await_identity(MachineSpec spec, Host host);
    asio::awaitable<EnsureResult> give_up(MachineSpec spec, Host host, std::string why);
    // Gives the host back unchanged, because another cluster has it or somebody turned it on, as in `why`.
    // The claim gets another host. Unless `is_undone`, a later look undoes what was prepared for a boot.
    asio::awaitable<EnsureResult> leave_to_others(MachineSpec spec, Host host,
                                                  std::shared_ptr<Station> station, std::string why,
                                                  bool is_undone = false);
    asio::awaitable<EnsureResult> ask(MachineSpec spec, Host host, std::shared_ptr<Station> station,
                                      System system);
    asio::awaitable<std::optional<Host>> enter_powering_on(MachineIdentity identity, Host host);
    // Returns nullopt if somebody else changed the host meanwhile.
    asio::awaitable<std::optional<Host>> prepare(MachineSpec spec, Host host,
                                                 std::shared_ptr<Station> station, System system);
    // Prepares a boot again that the BMC has forgotten. Returns false if the host was changed meanwhile.
    asio::awaitable<bool> prepare_again(MachineSpec spec, Host host, std::shared_ptr<Station> station,
                                        System system);
    asio::awaitable<std::optional<Host>> note_prepared(Host host);
    asio::awaitable<bool> undo(Host host, std::shared_ptr<Station> station, System system);
    std::optional<std::string> why_not_now(const Host& host);
    // Reports whether the host is being turned on now, rather than stuck because its BMC does not answer.
    bool is_being_turned_on(const Host& host);
    Machine machine_of(const MachineSpec& spec, const Host& host, MachineState state,
                       std::string message) const;

    const RedfishSettings& settings_;
    BmcConnections& fleet_;
    Binding& binding_;
    ProgressBook& progress_;
    base::Clock& clock_;
    HostLock lock_;
    BootPreparation preparation_;
    // Hosts that are being turned on, with their claim and the time since this process knows of it.
    std::map<std::string, std::pair<std::string, base::TimePoint>> turning_on_;
};

PowerLimits power_limits(const RedfishSettings& settings);

}  // namespace providers::redfish

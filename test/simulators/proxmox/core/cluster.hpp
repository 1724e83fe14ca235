// The simulated cluster: its state and the services that the API's handlers share. Owned by the Simulator.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/task_group.hpp"
#include "test/simulators/proxmox/core/authentication.hpp"
#include "test/simulators/proxmox/core/faults.hpp"
#include "test/simulators/proxmox/core/file_locks.hpp"
#include "test/simulators/proxmox/core/hooks.hpp"
#include "test/simulators/proxmox/core/statistics.hpp"
#include "test/simulators/proxmox/core/tasks.hpp"
#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

// A certificate's SHA-256, colon-separated, of a certificate that nobody will see; the same for the same
// text.
std::string made_up_fingerprint(const std::string& text);

class Cluster {
public:
    Cluster(asio::any_io_executor executor, base::Clock& clock, base::Random& random, World world);

    asio::any_io_executor executor;
    base::Clock& clock;
    base::Random& random;
    World world;
    Authentication authentication;
    FileLocks locks;
    Tasks tasks;
    base::TaskGroup background;
    Statistics statistics;
    MachineHooks* hooks = nullptr;  // not owned, may be null
    FaultPlan* faults = nullptr;    // not owned, may be null
    bool is_partitioned = false;    // hosts are on, but too few of them see each other

    std::int64_t wall_seconds() const { return to_seconds(clock.wall_now()); }

    Host* find_host(const std::string& name);
    Host& host(const std::string& name);
    // Cuts the host off from the others: it is on and answers, but alone it has no quorum, and it shows the
    // cluster's files as they were at this moment. The others believe that it is off.
    void isolate(const std::string& host);
    void rejoin(const std::string& host) { isolated_.erase(host); }
    bool is_isolated(const std::string& host) const { return isolated_.contains(host); }
    // Reports whether the cluster's files on that host show a machine with this ID.
    bool shows_machine(const std::string& on_host, int vmid) const;

    // What the cluster believes; it notices a dead host only after some seconds.
    bool seems_online(const Host& host) const;
    // What the observing host believes: one that is cut off sees itself alone.
    bool seems_online(const Host& host, const std::string& observer) const;
    bool has_quorum() const;
    bool has_quorum(const std::string& observer) const { return !is_isolated(observer) && has_quorum(); }
    // Throws "cluster not ready - no quorum?".
    void require_quorum() const;
    // Of a machine's configuration; throws what the file system of the cluster says without quorum.
    void require_writable(const std::string& node, int vmid) const;
    // For changes to users, pools and rights: waits and throws "cfs-lock 'file-user_cfg' error: no quorum!".
    asio::awaitable<void> lock_user_config(std::string action);

    // nullptr unless the machine exists on that host.
    Machine* find_machine(const std::string& node, int vmid);
    // Throws "Configuration file 'nodes/NODE/qemu-server/ID.conf' does not exist".
    Machine& machine(const std::string& node, int vmid);

    // Starts a worker; returns its UPID. `work` has been called with create_task()'s result.
    Task& create_task(const std::string& node, const std::string& type, const std::string& id,
                      const std::string& user);
    std::string run_task(Task& task, asio::awaitable<void> work);

    void power_off_host(const std::string& name);
    void power_on_host(const std::string& name);

    // Power of one machine, with all that hangs on it; no locks, no checks.
    void start_machine(Machine& machine);
    void stop_machine(Machine& machine);
    MachineView view(const Machine& machine) const;

private:
    std::uint64_t generation_ = 0;
    std::map<std::string, std::set<int>> isolated_;  // by host: the machines that its files show
};

}  // namespace proxmox_simulator

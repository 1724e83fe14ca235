// The simulated cluster: its state and the services that the API's handlers share. The Simulator owns it.
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

// Returns the SHA-256 of an imaginary certificate, colon-separated. The same text gives the same fingerprint.
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
    bool is_partitioned = false;    // the hosts are on, but too few of them see each other

    std::int64_t wall_seconds() const { return to_seconds(clock.wall_now()); }

    Host* find_host(const std::string& name);
    Host& host(const std::string& name);
    // Cuts the host off from the others. It is on and answers, but alone it has no quorum. It shows the
    // cluster's files as they were at this moment. The others believe that it is off.
    void isolate(const std::string& host);
    void rejoin(const std::string& host) { isolated_.erase(host); }
    bool is_isolated(const std::string& host) const { return isolated_.contains(host); }
    // Reports whether the cluster's files on that host show a machine with this ID.
    bool shows_machine(const std::string& on_host, int vmid) const;

    // Returns the cluster's belief; the cluster notices a dead host only after some seconds.
    bool seems_online(const Host& host) const;
    // Returns the belief of the observing host. A host that is cut off sees only itself.
    bool seems_online(const Host& host, const std::string& observer) const;
    bool has_quorum() const;
    bool has_quorum(const std::string& observer) const { return !is_isolated(observer) && has_quorum(); }
    // Throws "cluster not ready - no quorum?".
    void require_quorum() const;
    // Checks that a machine's configuration can be written. Without quorum it throws the error of the
    // cluster's file system.
    void require_writable(const std::string& node, int vmid) const;
    // Locks users, pools and rights for a change. Without quorum it waits and throws "cfs-lock
    // 'file-user_cfg' error: no quorum!".
    asio::awaitable<void> lock_user_config(std::string action);

    // Returns nullptr unless the machine exists on that host.
    Machine* find_machine(const std::string& node, int vmid);
    // Throws "Configuration file 'nodes/NODE/qemu-server/ID.conf' does not exist".
    Machine& machine(const std::string& node, int vmid);

    // create_task() makes a task, and run_task() starts its worker and returns its UPID. `work` uses the
    // created task.
    Task& create_task(const std::string& node, const std::string& type, const std::string& id,
                      const std::string& user);
    std::string run_task(Task& task, asio::awaitable<void> work);

    void power_off_host(const std::string& name);
    void power_on_host(const std::string& name);

    // These functions change the power of one machine and everything that depends on it, without locks and
    // checks.
    void start_machine(Machine& machine);
    void stop_machine(Machine& machine);
    MachineView view(const Machine& machine) const;

private:
    std::uint64_t generation_ = 0;
    std::map<std::string, std::set<int>> isolated_;  // machines in each isolated host's files, by host
};

}  // namespace proxmox_simulator

// The guests of the simulated machines. A started machine hands its cloud-init data to the testnode program.
// That program joins a real control plane as the machine would.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <map>
#include <memory>

#include "base/task_group.hpp"
#include "test/simulators/proxmox/core/cluster.hpp"
#include "test/simulators/proxmox/server/child_process.hpp"

namespace proxmox_simulator {

struct GuestOptions {
    std::string testnode;  // path of the program; empty: no guest runs in the machines
    std::string
        netboot_kubeconfig;  // kubeconfig of a machine that boots from the network; empty: it stays idle
    std::filesystem::path directory;  // holds one folder per machine: its disk, its seed, its boot log
    std::size_t parallel = 4;         // testnode processes that run simultaneously
};

class Guests final : public MachineHooks {
public:
    Guests(Cluster& cluster, GuestOptions options);
    ~Guests() override;

    void on_machine_started(const MachineView& machine) override;
    void on_machine_stopped(const MachineView& machine) override;
    void on_machine_destroyed(const MachineView& machine) override;
    // Runs a script for a shell as the machine's first-boot commands. Other commands succeed silently.
    asio::awaitable<GuestCommandResult> run(MachineView machine, GuestCommand command) override;
    void write_file(const MachineView& machine, const std::string& path, const std::string& content) override;

    // Returns the last output of the machine's testnode, for the control interface.
    json::object notes(int vmid) const;
    void stop();

private:
    struct Guest;

    asio::awaitable<void> work_off(std::shared_ptr<Guest> guest);
    asio::awaitable<void> boot(std::shared_ptr<Guest> guest, MachineView machine, std::uint64_t run);
    asio::awaitable<std::optional<SeedFiles>> find_seed(MachineView machine);
    asio::awaitable<std::string> fetch(std::string url);
    asio::awaitable<int> run_testnode(std::shared_ptr<Guest> guest, std::vector<std::string> arguments);
    std::vector<std::string> write_seed(const Guest& guest, const SeedFiles& seed) const;
    Guest& guest_of(const MachineView& machine);
    void enqueue(const MachineView& machine, int action);

    Cluster& cluster_;
    GuestOptions options_;
    base::TaskGroup group_;
    base::ConditionVariable changed_;
    std::size_t running_ = 0;
    std::map<std::string, std::shared_ptr<Guest>> guests_;  // by folder name: VM ID and UUID
};

}  // namespace proxmox_simulator

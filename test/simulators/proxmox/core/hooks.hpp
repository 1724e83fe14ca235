// Callbacks of the simulator. It does not model what happens inside and beside the simulated machines; the
// hooks do.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

namespace asio = boost::asio;

// SeedFiles holds the three files of cloud-init. An empty file is missing.
struct SeedFiles {
    std::string user_data;
    std::string meta_data;
    std::string network_config;
};

// MachineView is a machine as its own guest sees it.
struct MachineView {
    int vmid = 0;
    std::string node;
    std::string name;
    std::string uuid;  // SMBIOS system UUID, lower case
    int cpus = 1;
    std::uint64_t memory_mib = 0;
    std::string smbios_serial;  // decoded
    std::string cdrom;          // bytes of the ISO image in the first CD-ROM drive that has one
    std::string cdrom_volume;   // its volume ID
    std::optional<SeedFiles> cloudinit_drive;  // content of the generated cloud-init drive
    std::vector<std::string> boot_order;       // device names: scsi0, net0, ...
    std::string address;                       // address of net0 as the guest's agent reports it
    Config config;
};

struct GuestCommand {
    std::vector<std::string> arguments;
    std::string input;  // standard input of the command
};

struct GuestCommandResult {
    int exit_code = 0;
    std::string output;
    std::string error_output;
    Duration duration = std::chrono::milliseconds{300};
};

class MachineHooks {
public:
    MachineHooks() = default;
    MachineHooks(const MachineHooks&) = delete;
    MachineHooks& operator=(const MachineHooks&) = delete;
    virtual ~MachineHooks() = default;

    // Called at power on, also after a reboot, on the loop's thread. It must not block.
    virtual void on_machine_started(const MachineView& machine) = 0;
    // Called at every kind of power off, also when the host died, and before the start of a reboot.
    virtual void on_machine_stopped(const MachineView& machine) = 0;
    // Called when the machine's disks are gone.
    virtual void on_machine_destroyed(const MachineView&) {}
    // Runs a command in the guest and returns when it has ended.
    virtual asio::awaitable<GuestCommandResult> run(MachineView, GuestCommand) {
        co_return GuestCommandResult{};
    }
    virtual void write_file(const MachineView&, const std::string& /*path*/, const std::string& /*content*/) {
    }
};

}  // namespace proxmox_simulator

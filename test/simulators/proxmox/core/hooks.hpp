// What happens inside and beside the simulated machines is not the simulator's business; it tells these
// hooks.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

namespace asio = boost::asio;

// Cloud-init's three files; an empty one is not there.
struct SeedFiles {
    std::string user_data;
    std::string meta_data;
    std::string network_config;
};

// A machine as its own guest sees it.
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
    std::optional<SeedFiles> cloudinit_drive;  // of the generated cloud-init drive
    std::vector<std::string> boot_order;       // device names: scsi0, net0, ...
    std::string address;                       // of net0, as its guest's agent tells it
    Config config;
};

struct GuestCommand {
    std::vector<std::string> arguments;
    std::string input;  // what the command reads on standard input
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

    // Power on (also after a reboot). Called on the loop's thread; must not block.
    virtual void on_machine_started(const MachineView& machine) = 0;
    // Power off, by whatever means, or its host died. Called also before a reboot's start.
    virtual void on_machine_stopped(const MachineView& machine) = 0;
    // Its disks are gone.
    virtual void on_machine_destroyed(const MachineView&) {}
    // Runs a command in the guest and returns when it has ended.
    virtual asio::awaitable<GuestCommandResult> run(MachineView, GuestCommand) {
        co_return GuestCommandResult{};
    }
    virtual void write_file(const MachineView&, const std::string& /*path*/, const std::string& /*content*/) {
    }
};

}  // namespace proxmox_simulator

// Configurer completes the configuration of a machine that was cloned or made without tags.
#pragma once

#include <string>

#include "providers/launch.hpp"
#include "providers/proxmox/cloning.hpp"
#include "providers/proxmox/vm/boot_images.hpp"

namespace providers::proxmox {

class Configurer {
public:
    // All arguments must outlive this.
    Configurer(const Settings& settings, ProxmoxClient& client, BootImages& images)
        : settings_(settings), client_(client), images_(images) {}

    // Sets identity, size, tags and drives of the unfinished machine, and then the mark of a complete one.
    // Proxmox may apply only part of a change. The machine stays unfinished until the last change, and all
    // changes are repeated. Throws ProxmoxError, FencedError.
    asio::awaitable<void> configure(MachineSpec spec, VmConfig config);
    // Returns the UPID of the resize. It is empty if the resize is immediate (before PVE 8) or not needed.
    asio::awaitable<std::string> resize(MachineSpec spec, VmConfig config);

private:
    // Changes the VM. Proxmox refuses the change if anybody changed the VM since it was read.
    asio::awaitable<void> change(const MachineSpec& spec, const VmConfig& read, base::FormFields change);
    // Throws ProxmoxError if it is no longer the unfinished machine.
    asio::awaitable<VmConfig> read_again(const MachineSpec& spec);

    const Settings& settings_;
    ProxmoxClient& client_;
    BootImages& images_;
};

}  // namespace providers::proxmox

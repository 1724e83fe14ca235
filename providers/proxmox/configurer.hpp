// Makes a machine that was cloned, or made without tags, what it is to be.
#pragma once

#include <string>

#include "providers/launch.hpp"
#include "providers/proxmox/cloning.hpp"
#include "providers/proxmox/vm/boot_images.hpp"

namespace providers::proxmox {

class Configurer {
public:
    // All must outlive this.
    Configurer(const Settings& settings, Client& client, BootImages& images)
        : settings_(settings), client_(client), images_(images) {}

    // Gives the unfinished machine identity, size, tags and drives, and then the mark that says so. Proxmox
    // may carry out a part of a change: until the last one the machine stays unfinished, and all is done
    // again. Throws ProxmoxError, FencedError.
    asio::awaitable<void> configure(MachineSpec spec, VmConfig config);
    // The UPID of the resize, empty if it is done at once (before PVE 8) or not needed.
    asio::awaitable<std::string> resize(MachineSpec spec, VmConfig config);

private:
    // Refused if anybody changed the VM since it was read.
    asio::awaitable<void> change(const MachineSpec& spec, const VmConfig& read, base::FormFields change);
    // Throws ProxmoxError if it is not the unfinished machine any more.
    asio::awaitable<VmConfig> read_again(const MachineSpec& spec);

    const Settings& settings_;
    Client& client_;
    BootImages& images_;
};

}  // namespace providers::proxmox

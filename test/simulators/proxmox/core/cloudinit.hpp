// The cloud-init drive that Proxmox generates from a machine's options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "test/simulators/proxmox/core/hooks.hpp"

namespace proxmox_simulator {

class Cluster;

// Returns the drive's content since its last generation, with "cicustom" snippets in their places. Returns
// nullopt if the machine has no such drive or the drive was never generated.
std::optional<SeedFiles> cloudinit_files(const Cluster& cluster, const Machine& machine);
// Stores the present settings as the drive's content.
void regenerate_cloudinit(Machine& machine);

// Renders a file from the present settings, as "cloudinit/dump" does. `type` is user, network or meta.
std::string render_cloudinit(const Config& config, int vmid, const std::string& type);

// Checks the snippets that "cicustom" names. Throws "volume 'local:snippets/x' does not exist".
void require_snippets(const Cluster& cluster, const Machine& machine);

// CloudinitChange is a change since the drive was generated: option, old value, new value (empty: absent).
struct CloudinitChange {
    std::string option, old_value, new_value;
};
std::vector<CloudinitChange> cloudinit_changes(const Machine& machine);
bool has_cloudinit_drive(const Config& config);

}  // namespace proxmox_simulator

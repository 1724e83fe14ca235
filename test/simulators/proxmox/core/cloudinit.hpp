// The cloud-init drive that Proxmox generates from a machine's options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "test/simulators/proxmox/core/hooks.hpp"

namespace proxmox_simulator {

class Cluster;

// What the drive holds after its last generation, with "cicustom" snippets in their places; nullopt if the
// machine has no such drive or it was never generated.
std::optional<SeedFiles> cloudinit_files(const Cluster& cluster, const Machine& machine);
// Remembers the present settings as the drive's content.
void regenerate_cloudinit(Machine& machine);

// `type` is user, network or meta; rendered from the present settings (as "cloudinit/dump" does).
std::string render_cloudinit(const Config& config, int vmid, const std::string& type);

// The snippets that "cicustom" names. Throws "volume 'local:snippets/x' does not exist".
void require_snippets(const Cluster& cluster, const Machine& machine);

// Changed since the drive was generated: option, old value, new value (empty: absent).
struct CloudinitChange {
    std::string option, old_value, new_value;
};
std::vector<CloudinitChange> cloudinit_changes(const Machine& machine);
bool has_cloudinit_drive(const Config& config);

}  // namespace proxmox_simulator

#include "test/simulators/proxmox/core/machine_rights.hpp"

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/formats.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/pci_devices.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

void require_volume_access(const Call& call, int vmid, const std::string& volume_id) {
    auto storage = parse_volume_id(volume_id).storage;
    find_storage(std::as_const(call.cluster.world), storage);
    auto path = "/storage/" + storage;
    const auto* volume = find_volume(std::as_const(call.cluster.world), call.node, volume_id);
    bool plain = volume_id.find(":iso/") != std::string::npos ||
                 volume_id.find(":vztmpl/") != std::string::npos ||
                 volume_id.find(":import/") != std::string::npos;
    if (plain)
        require_any(call.cluster.world, call.user, path, {"Datastore.AllocateSpace", "Datastore.Audit"});
    else if (!volume || volume->vmid != vmid)
        call.require(path, "Datastore.Allocate");
}

void check_drive(const Call& call, int vmid, const std::string& option, const Drive& drive) {
    const auto& volume = drive.volume;
    if (volume == "none" || volume.ends_with(":cloudinit") || volume == "cloudinit") return;
    if (volume == "cdrom") {
        call.require("/", "Sys.Console");
        return;
    }
    if (auto disk = parse_new_disk(volume, call.text("storage")); disk && !drive.is_cdrom) {
        if (disk->storage.empty()) throw failure("no storage ID specified (and no default storage)");
        const auto& storage = find_storage(std::as_const(call.cluster.world), disk->storage);
        call.require("/storage/" + disk->storage, "Datastore.AllocateSpace");
        if (!storage.content.contains("images")) {
            throw parameter_error("storage", "storage '" + disk->storage + "' does not support vm images");
        }
        auto source = drive.properties.find("import-from");
        if (source == drive.properties.end()) return;
        if (disk->size != 0) {
            throw parameter_error(
                option, "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>");
        }
        if (source->second.starts_with('/')) throw failure("Only root can pass arbitrary filesystem paths.");
        require_volume_access(call, vmid, source->second);
        return;
    }
    if (volume.starts_with('/')) throw failure("Only root can pass arbitrary filesystem paths.");
    require_volume_access(call, vmid, volume);
    if (volume.find(":iso/") != std::string::npos && !drive.is_cdrom) {
        throw parameter_error(option, "explicit 'media=cdrom' is required for iso images");
    }
}

std::string_view drive_privilege(const Drive& drive) {
    return drive.is_cdrom ? "VM.Config.CDROM" : "VM.Config.Disk";
}

}  // namespace

// A bridge outside any zone belongs to "localnetwork".
void require_bridge(const World& world, const std::string& user, const std::string& net) {
    if (user == "root@pam") return;
    auto properties = parse_properties(property_group("net"), net);
    auto bridge = properties.find("bridge");
    if (bridge == properties.end()) return;
    auto path = "/sdn/zones/localnetwork/" + bridge->second;
    if (auto tag = properties.find("tag"); tag != properties.end()) {
        if (has_any(world, user, path + "/" + tag->second, {"SDN.Use"})) return;
    }
    require(world, user, path, "SDN.Use");
}

void require_machine_right(const Call& call, int vmid, const std::string& pool,
                           const std::vector<std::string_view>& privileges) {
    if (!pool.empty() && has_any(call.cluster.world, call.user, "/pool/" + pool, privileges)) return;
    require_any(call.cluster.world, call.user, "/vms/" + std::to_string(vmid), privileges);
}

void require_option_right(const Call& call, int vmid, const std::string& pool, const std::string& option) {
    if (call.is_root()) return;
    if (is_passed_through(option)) return;  // the right depends on the mapping
    auto privileges = option_privileges(option);
    if (privileges.empty()) throw failure("only root can set '" + option + "' config");
    require_machine_right(call, vmid, pool, privileges);
    if (option == "startup") call.require("/", "Sys.Modify");
}

void require_config_rights(const Call& call, int vmid, const std::string& pool, const Config& config) {
    for (const auto& [option, value] : config) {
        if (!is_drive(option)) continue;
        auto drive = parse_drive(option, value);
        check_drive(call, vmid, option, drive);
        require_machine_right(call, vmid, pool, {drive_privilege(drive)});
        if (drive.volume.ends_with(":cloudinit"))
            require_machine_right(call, vmid, pool, {"VM.Config.Cloudinit"});
    }
    for (const auto& [option, value] : config) {
        if (!is_drive(option)) require_option_right(call, vmid, pool, option);
    }
    for (const auto& [option, value] : config) {
        if (is_network_interface(option)) require_bridge(call.cluster.world, call.user, value);
    }
    if (auto keys = config.find("sshkeys"); keys != config.end()) require_valid_ssh_keys(keys->second);
}

std::optional<NewDisk> parse_new_disk(const std::string& volume, const std::string& default_storage) {
    if (!matches(R"((([^/:\s]+):)?\d+(\.\d+)?)", volume)) return std::nullopt;
    auto colon = volume.find(':');
    NewDisk disk{colon == std::string::npos ? default_storage : volume.substr(0, colon), 0};
    auto number = colon == std::string::npos ? volume : volume.substr(colon + 1);
    disk.size = parse_size(number + "G").value_or(0);
    return disk;
}

void require_valid_ssh_keys(const std::string& encoded) {
    for (const auto& line : split(percent_decode(encoded), '\n')) {
        auto key = trim(line);
        if (key.empty() || key.starts_with('#')) continue;
        if (!matches(
                R"((?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d+|sk-\S+@openssh\.com)\s+[A-Za-z0-9+/]{16,}={0,2}(?:\s.*)?)",
                key)) {
            throw failure("SSH public key validation error");
        }
    }
}

}  // namespace proxmox_simulator

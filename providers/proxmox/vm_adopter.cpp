#include "providers/proxmox/vm_adopter.hpp"

#include <algorithm>

#include "base/uuid.hpp"
#include "providers/proxmox/config/volumes.hpp"
#include "providers/proxmox/placement/host_chooser.hpp"

namespace providers::proxmox {

namespace {

std::string vm_text(const Guest& guest) {
    return "VM " + std::to_string(guest.vmid) + " on " + guest.node;
}

std::vector<Guest> named(const ClusterState& state, const std::string& name) {
    std::vector<Guest> found;
    for (const auto& guest : state.guests) {
        if (!guest.is_container && !guest.is_template && guest.name == name) found.push_back(guest);
    }
    return found;
}

bool is_marked_as(const VmConfig& config, const MachineIdentity& identity) {
    auto mark = parse_mark(config.option("description"));
    if (!mark) return false;
    mark->system_uuid = identity.system_uuid;
    return *mark == identity;
}

}  // namespace

std::string adoption_obstacle(const VmConfig& config, const MachineIdentity& identity,
                              const std::string& managed_tag) {
    const auto wanted = parse_tags(managed_tag);
    const auto tags = config.tags();
    if (!std::ranges::includes(tags, wanted)) return "it has no tag " + managed_tag;
    if (!config.lock().empty()) return "it is locked (" + config.lock() + ")";
    const auto uuid = config.system_uuid();
    if (uuid.empty() || !base::same_uuid(uuid, identity.system_uuid)) {
        return "its SMBIOS UUID is " + (uuid.empty() ? "not set" : uuid) + ", its Node's is " +
               identity.system_uuid;
    }
    const auto mark = parse_mark(config.option("description"));
    if (mark && !is_marked_as(config, identity)) {
        return "it is marked as the machine of claim " + mark->claim_namespace + "/" + mark->claim_name +
               " of cluster " + mark->cluster_id;
    }
    return {};
}

asio::awaitable<AdoptResult> VmAdopter::adopt(MachineIdentity identity) {
    const auto state = co_await view_.state(base::Duration::zero());
    const auto found = named(*state, identity.claim_name);
    if (found.empty()) {
        co_return NotAdopted{"no VM called " + identity.claim_name +
                             " is visible (VM.Audit on it is needed, and its host must be up)"};
    }
    if (found.size() > 1) {
        co_return NotAdopted{"several VMs are called " + identity.claim_name + ": " + vm_text(found[0]) +
                             " and " + vm_text(found[1])};
    }
    const auto& guest = found.front();
    const auto data = co_await client_.read(get_vm_config(guest.node, guest.vmid));
    const auto config = parse_vm_config(data);
    const auto obstacle = adoption_obstacle(config, identity, settings_.managed_tag());
    if (!obstacle.empty()) co_return NotAdopted{vm_text(guest) + ": " + obstacle};
    if (!is_marked_as(config, identity)) {
        // The owner who hands over the machine also hands over the disks in use.
        const auto made = copied_drives(config);
        auto description = describe_mark(
            identity, guest.vmid, {explained_volumes(volume_uses(config), guest.vmid, {{}, made}), {}});
        if (!config.option("description").empty()) description += "\n" + config.option("description");
        const auto change = unless_changed(config, {{"description", description}});
        co_await client_.change(configure_vm(guest.node, guest.vmid, change));
    }
    co_return co_await adopted(guest);
}

asio::awaitable<Adopted> VmAdopter::adopted(const Guest& guest) {
    Adopted result;
    result.record.host = guest.node;
    result.record.machine_id = std::to_string(guest.vmid);
    const auto cluster = co_await view_.name();
    result.provider_id = settings_.provider_id(cluster, result.record.machine_id);
    if (settings_.has_zones()) result.zone = guest.node;
    co_return result;
}

}  // namespace providers::proxmox

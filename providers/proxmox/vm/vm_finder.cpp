#include "providers/proxmox/vm/vm_finder.hpp"

#include <algorithm>

#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

// A guest with our tag but no mark may be adopted during this time. One that is off may be configured.
constexpr base::Duration kUnsettledAge = std::chrono::minutes{10};

}  // namespace

std::string host_down_reason(const Look& look) {
    if (!look.has_host_left) return "the host is down";
    if (look.is_uncertain)
        return "host " + look.host + " is no longer in the cluster, and a VM there may be this machine";
    return "host " + look.host +
           " is no longer in the cluster; if it is gone for good, as root on another host: rm "
           "/etc/pve/nodes/" +
           look.host + "/qemu-server/" + std::to_string(look.vmid) + ".conf";
}

asio::awaitable<Look> VmFinder::look_at(MachineIdentity identity, std::string host, std::int64_t vmid) {
    Look look;
    look.host = host;
    look.vmid = vmid;
    try {
        const auto data = co_await client_.read(get_vm_config(host, vmid));
        look.presence = Presence::present;
        look.config = parse_vm_config(data);
        look.ownership = ownership_of(look.config, vmid, identity, settings_.managed_tag());
    } catch (const ProxmoxError& error) {
        const bool is_hidden = error.kind == ErrorKind::permission;
        if (error.kind != ErrorKind::not_found && !is_hidden) throw;
        if (is_hidden) look.presence = Presence::hidden;
    }
    co_return look;
}

asio::awaitable<bool> VmFinder::is_free(std::int64_t vmid) {
    try {
        co_await client_.read(probe_free_id(vmid));
        co_return true;
    } catch (const ProxmoxError& error) {
        if (error.kind != ErrorKind::exists) throw;
        co_return false;
    }
}

asio::awaitable<Look> VmFinder::find(MachineIdentity identity, MachineRecord record) {
    const auto vmid = vmid_of(record.machine_id);
    try {
        auto look = co_await look_at(identity, record.host, vmid);
        if (look.presence == Presence::present) co_return look;
    } catch (const ProxmoxError& error) {
        const bool host_may_be_down =
            error.kind == ErrorKind::outcome_unknown || error.kind == ErrorKind::unreachable;
        if (!host_may_be_down) throw;
    }
    co_return co_await find_missing(identity, record.host, vmid);
}

asio::awaitable<Look> VmFinder::find_missing(MachineIdentity identity, std::string recorded_host,
                                             std::int64_t vmid) {
    Look look;
    look.host = recorded_host;
    look.vmid = vmid;
    // The list of IDs covers the whole cluster, so this also holds for hosts that are down and for hidden
    // VMs.
    const bool is_nowhere = co_await is_free(vmid);
    if (is_nowhere) co_return look;
    const auto state = co_await view_.state(base::Duration::zero());
    const auto* guest = state->find_guest(vmid);
    if (!guest) {
        look.presence = Presence::hidden;
        co_return look;
    }
    look.host = guest->node;
    const auto* host = state->find_host(guest->node);
    if (!host || host->is_down()) {
        look.presence = Presence::host_down;
        look.has_host_left = !host;
        co_return look;
    }
    if (guest->is_container) {
        look.presence = Presence::present;  // somebody else uses the ID
        co_return look;
    }
    co_return co_await look_at(identity, guest->node, vmid);
}

asio::awaitable<Look> VmFinder::find_elsewhere(MachineIdentity identity) {
    Look absent;
    const auto state = co_await view_.state(base::Duration::zero());
    // This comes last: a right that was removed meanwhile hides machines.
    const bool sees_all = co_await view_.sees_all_machines(base::Duration::zero());
    if (!sees_all) absent.presence = Presence::hidden;
    const auto tag = parse_tags(settings_.managed_tag());
    for (const auto& guest : state->odd_guests)
        if (std::ranges::includes(guest.tags, tag) || guest.name == identity.claim_name)
            absent.presence = Presence::hidden;  // it may be this machine
    for (const auto& guest : state->guests) {
        if (guest.is_container || guest.is_template) continue;
        if (!std::ranges::includes(guest.tags, tag) && guest.name != identity.claim_name) continue;
        const auto* host = state->find_host(guest.node);
        if (!host || host->is_down()) {
            if (!guest.name.empty() && guest.name != identity.claim_name) continue;
            absent.presence = Presence::host_down;  // it may be this machine
            absent.has_host_left = !host;
            absent.is_uncertain = true;
            absent.host = guest.node;
            absent.vmid = guest.vmid;
            continue;
        }
        auto look = co_await look_at(identity, guest.node, guest.vmid);
        const bool is_it = look.presence == Presence::present && look.ownership != Ownership::foreign &&
                           look.ownership != Ownership::half_made;
        if (is_it) co_return look;
    }
    co_return absent;
}

asio::awaitable<bool> VmFinder::is_running(std::string host, std::int64_t vmid) {
    const auto data = co_await client_.read(get_vm_status(host, vmid));
    co_return data.is_object() && text_of(data.get_object(), "status") == "running";
}

// Reports whether the remembered mark is still valid. A clone has our mark before its own UUID, and another
// machine may have taken its VMID and name. In both cases the VM was off in between.
bool VmFinder::still_holds(const Remembered& known, const Guest& guest) const {
    if (guest.name.empty() || known.name != guest.name) return false;
    const auto off = base::Duration::zero();
    const bool ran_on = known.uptime > off && guest.uptime >= known.uptime;
    const bool stayed_off = known.uptime == off && guest.uptime == off;
    if (!ran_on && !stayed_off) return false;
    return (ran_on && known.marked) || view_.now() - known.read_at <= kUnsettledAge;
}

asio::awaitable<std::optional<VmFinder::Marked>> VmFinder::mark_of(Guest guest) {
    const auto known = remembered_.find(guest.vmid);
    if (known != remembered_.end() && still_holds(known->second, guest)) co_return known->second.marked;
    std::optional<Marked> marked;
    try {
        const auto data = co_await client_.read(get_vm_config(guest.node, guest.vmid));
        const auto config = parse_vm_config(data);
        auto identity = parse_mark(config.option("description"));
        if (identity) {
            identity->system_uuid = config.system_uuid();
            const bool is_unfinished = unfinished_vmid(config.option("description")) == guest.vmid;
            marked = Marked{*std::move(identity), config.cores(), config.memory_mib(), is_unfinished};
        }
        remembered_[guest.vmid] = Remembered{guest.name, guest.uptime, view_.now(), marked};
    } catch (const ProxmoxError& error) {
        // A single host that does not answer must not hide all others. Nor must a VM that is just being
        // removed, which also removes the rights of its pool.
        const bool concerns_one = error.kind == ErrorKind::not_found || error.kind == ErrorKind::permission ||
                                  is_passing(error.kind);
        if (!concerns_one) throw;
        const auto last = remembered_.find(guest.vmid);
        // Another VM may have its ID by now.
        const bool is_same = last != remembered_.end() && last->second.name == guest.name;
        if (is_same) marked = last->second.marked;
        if (!is_same) remembered_.erase(guest.vmid);
    }
    co_return marked;
}

void VmFinder::forget_missing(const ClusterState& state) {
    std::erase_if(remembered_, [&](const auto& entry) { return !state.find_guest(entry.first); });
}

}  // namespace providers::proxmox

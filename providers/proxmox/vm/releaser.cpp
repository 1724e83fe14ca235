#include "providers/proxmox/vm/releaser.hpp"

namespace providers::proxmox {

namespace {

std::string without_mark(const std::string& description) {
    std::string kept;
    for (std::size_t at = 0; at < description.size();) {
        const auto end = std::min(description.find('\n', at), description.size());
        const auto line = description.substr(at, end - at);
        if (!parse_mark(line)) kept += line + "\n";
        at = end + 1;
    }
    while (kept.ends_with('\n')) kept.pop_back();
    return kept;
}

}  // namespace

std::vector<base::FormFields> release_changes(const VmConfig& config, const std::string& managed_tag) {
    auto tags = config.tags();
    for (const auto& tag : parse_tags(managed_tag)) tags.erase(tag);
    const auto change = [](const std::string& option, const std::string& value) {
        return value.empty() ? base::FormFields{{"delete", option}} : base::FormFields{{option, value}};
    };
    return {change("description", without_mark(without_epoch(config.option("description")))),
            change("tags", join_tags(tags))};
}

asio::awaitable<bool> Releaser::release(MachineIdentity identity, MachineRecord record) {
    if (record.machine_id.empty()) co_return true;
    if (pauses_.lasts(identity.system_uuid)) co_return false;
    const auto look = co_await machines_.find(identity, record);
    if (look.presence == Presence::absent) co_return true;
    const auto vm = "releasing VM " + record.machine_id + " on " + look.host + ": ";
    if (look.presence == Presence::host_down) throw ProviderError(vm + host_down_reason(look));
    if (look.presence == Presence::hidden) throw ProviderError(vm + "the token lacks VM.Audit on it");
    if (look.ownership == Ownership::unfinished || look.ownership == Ownership::half_made)
        throw ProviderError(vm +
                            explain_ownership(look.config, look.vmid, identity, settings_.managed_tag()));
    // If part of the mark is missing, somebody removed it or we did: the machine is already released.
    if (look.ownership != Ownership::ours) co_return true;
    const auto tag = settings_.managed_tag();
    try {
        const auto mark = unless_changed(look.config, release_changes(look.config, tag).front());
        co_await client_.change(configure_leaving_vm(look.host, look.vmid, mark));
        const auto data = co_await client_.read(get_vm_config(look.host, look.vmid));
        const auto config = parse_vm_config(data);
        const auto tags = unless_changed(config, release_changes(config, tag).back());
        co_await client_.change(configure_leaving_vm(look.host, look.vmid, tags));
    } catch (const ProxmoxError& error) {
        if (is_tried_later(error.kind)) pauses_.begin(identity.system_uuid);
        throw;
    }
    pauses_.end(identity.system_uuid);
    co_return true;
}

}  // namespace providers::proxmox

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

base::FormFields release_change(const VmConfig& config, const std::string& managed_tag) {
    auto tags = config.tags();
    for (const auto& tag : parse_tags(managed_tag)) tags.erase(tag);
    const auto description = without_mark(config.option("description"));
    std::string deleted;
    base::FormFields change;
    for (const auto& [name, value] :
         {std::pair<std::string, std::string>{"description", description}, {"tags", join_tags(tags)}}) {
        if (value.empty()) {
            deleted += (deleted.empty() ? "" : ",") + name;
        } else {
            change.emplace_back(name, value);
        }
    }
    if (!deleted.empty()) change.emplace_back("delete", deleted);
    return change;
}

asio::awaitable<bool> Releaser::release(MachineIdentity identity, MachineRecord record) {
    if (record.machine_id.empty()) co_return true;
    const auto look = co_await machines_.find(identity, record);
    if (look.presence == Presence::absent) co_return true;
    const auto vm = "releasing VM " + record.machine_id + " on " + look.host + ": ";
    if (look.presence == Presence::host_down) throw ProviderError(vm + "the host is down");
    if (look.presence == Presence::hidden) throw ProviderError(vm + "the token lacks VM.Audit on it");
    if (look.ownership == Ownership::unfinished || look.ownership == Ownership::half_made)
        throw ProviderError(vm + explain_ownership(look.config, identity, settings_.managed_tag()));
    // Somebody removed a part of the mark: it is released already.
    if (look.ownership != Ownership::ours) co_return true;
    const auto change = release_change(look.config, settings_.managed_tag());
    co_await client_.change(configure_vm(look.host, look.vmid, change));
    co_return true;
}

}  // namespace providers::proxmox

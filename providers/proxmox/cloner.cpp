#include "providers/proxmox/cloner.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/config/volumes.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

asio::awaitable<Cloner::Started> Cloner::clone(MachineSpec spec) {
    const auto source = co_await templates_.source_for(spec.record.host);
    Started started;
    if (!slots_.take(source.node, spec.identity.system_uuid)) {
        started.message = "waiting for one of the " +
                          base::counted(settings_.spec.placement.maxConcurrentClonesPerNode, "clone slot") +
                          " of host " + source.node;
        co_return started;
    }
    try {
        started.upid = co_await start_clone(spec, source);
    } catch (const ProxmoxError& error) {
        // If the outcome is unknown, the clone may be running. Its slot is then freed after a timeout.
        if (error.kind != ErrorKind::outcome_unknown || !error.is_of_change)
            slots_.give_back(spec.identity.system_uuid);
        throw;
    }
    co_return started;
}

asio::awaitable<std::string> Cloner::start_clone(MachineSpec spec, Guest source) {
    const auto& wish = *settings_.spec.template_;
    const bool is_auto = wish.cloneMode == api::v1alpha1::CloneMode::Auto;
    auto kind = preferred_kind(wish);
    static constexpr base::Duration kBelieved = std::chrono::hours{1};
    std::erase_if(cannot_link_,
                  [this](const auto& entry) { return clock_.now() - entry.second >= kBelieved; });
    const auto template_ = co_await read_source(source);
    if (is_auto && cannot_link_.contains(template_.disks)) kind = CloneKind::full;
    try {
        const auto parameters = clone_parameters(settings_, spec, template_.parts, kind);
        const auto upid = co_await client_.change(clone_vm(source.node, source.vmid, parameters));
        co_return text_of(upid);
    } catch (const ProxmoxError& error) {
        if (!is_auto || kind == CloneKind::full || !is_link_refusal(error)) throw;
        cannot_link_[template_.disks] = clock_.now();
    }
    const auto parameters = clone_parameters(settings_, spec, template_.parts, CloneKind::full);
    const auto upid = co_await client_.change(clone_vm(source.node, source.vmid, parameters));
    co_return text_of(upid);
}

// Reads the template before each clone, as the clone's parts must be recorded before they exist.
asio::awaitable<Cloner::Source> Cloner::read_source(Guest source) {
    const auto data = co_await client_.read(get_vm_config(source.node, source.vmid));
    const auto config = parse_vm_config(data);
    auto disks = base::joined(volume_uses(config), " ", &VolumeUse::volume);
    co_return Source{{source.node, copied_drives(config)}, std::move(disks)};
}

void Cloner::note_task(const MachineSpec& spec, const Upid& task, const TaskStatus& status) {
    if (task.type != "qmclone") return;
    if (status.outcome == TaskOutcome::running) {
        slots_.keep(task.node, spec.identity.system_uuid);
    } else {
        slots_.give_back(spec.identity.system_uuid);
    }
}

asio::awaitable<bool> Cloner::is_cloning(std::string host) {
    const auto sources = co_await templates_.possible_sources_for(std::move(host));
    for (const auto& source : sources) {
        const auto tasks = co_await client_.read(get_active_tasks(source.node, source.vmid));
        const auto entries = objects_of(tasks);
        const bool is_ours = std::ranges::any_of(entries, [this](const json::object* entry) {
            const auto task = parse_upid(text_of(*entry, "upid"));
            return task && task->type == "qmclone" && task->user == client_.user();
        });
        if (is_ours) co_return true;
    }
    co_return false;
}

}  // namespace providers::proxmox

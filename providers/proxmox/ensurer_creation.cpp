// The part of Ensurer that finds the outcome of a creation when only its beginning is known.
#include <utility>

#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/ensure_outcome.hpp"
#include "providers/proxmox/ensurer.hpp"
#include "providers/proxmox/vm/half_made.hpp"
#include "providers/proxmox/vm/hidden_creation.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

// Resolves a taken ID. This machine has it if an earlier request was executed after all, or if the machine
// was moved. Otherwise another VM has it.
asio::awaitable<EnsureResult> Ensurer::resolve_taken_id(MachineSpec spec, std::string refusal) {
    auto found = co_await machines_.find(spec.identity, spec.record);
    if (found.presence == Presence::hidden) {
        // A token with rights only on the resource pool cannot see a VM before it is complete and in the
        // pool.
        const auto task = co_await creation_at_work(spec);
        if (task && task->empty()) co_return co_await pause(std::move(spec), std::move(refusal));
        if (task) co_return co_await progress(std::move(spec), MachineState::creating, *task, refusal);
        found = co_await machines_.find(spec.identity, spec.record);
        const bool is_hidden = found.presence == Presence::hidden;
        const bool sees_own = co_await view_.sees_all_machines(base::Duration::zero());
        if (is_hidden && !sees_own) {
            NotReady result;
            result.message =
                "VMID " + spec.record.machine_id +
                " is taken, and the token needs VM.Audit on the operator's machines to see by which VM";
            result.retry_after = kPersonRetry;
            co_return result;
        }
        const bool has_died = is_hidden && co_await died_out_of_sight(client_, tasks_, spec.record);
        // A VM that we left behind stays on record until it is removed.
        if (has_died) co_return attempt_failed("CreateFailed", hidden_half_made_text(spec.record), true);
    }
    const bool may_be_it = found.presence == Presence::present &&
                           (found.ownership == Ownership::ours || found.ownership == Ownership::unfinished ||
                            found.ownership == Ownership::half_made);
    if (!may_be_it) co_return co_await placer_.place_under_another_id(std::move(spec), std::move(refusal));
    spec.record.host = found.host;
    co_return co_await progress(std::move(spec), MachineState::creating, "",
                                "the VM exists already, on " + found.host);
}

asio::awaitable<std::optional<std::string>> Ensurer::creation_at_work(const MachineSpec& spec) {
    if (settings_.spec.template_) {
        const bool is_at_work = co_await cloner_.is_cloning(spec.record.host);
        co_return is_at_work ? std::optional(std::string()) : std::nullopt;
    }
    const auto vmid = vmid_of(spec.record.machine_id);
    const auto tasks = co_await client_.read(get_active_tasks(spec.record.host, vmid));
    for (const auto* entry : objects_of(tasks)) {
        const auto task = parse_upid(text_of(*entry, "upid"));
        if (task && task->type == "qmcreate" && task->user == client_.user()) co_return task->text;
    }
    co_return std::nullopt;
}

asio::awaitable<EnsureResult> Ensurer::find_creation(MachineSpec spec, std::string message) {
    const auto vmid = vmid_of(spec.record.machine_id);
    // If our task died, it is the only proof of the VM's owner.
    const auto proof =
        began_creation(spec.record.task, client_.user(), vmid) ? spec.record.task : std::string();
    const auto creation = co_await creation_at_work(spec);
    if (creation) locks_.forget(spec.identity.system_uuid);
    const bool is_this_one = creation && !creation->empty();
    if (is_this_one) message = waiting_for(*creation);
    const auto& task = is_this_one ? *creation : proof;
    co_return co_await progress(std::move(spec), MachineState::creating, task, std::move(message));
}

}  // namespace providers::proxmox

#include "providers/proxmox/machine_remover.hpp"

#include "base/log.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/vm/half_made.hpp"
#include "providers/proxmox/vm/hidden_creation.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kRemovalRetry = std::chrono::seconds{3};
constexpr base::Duration kSoon = std::chrono::milliseconds{500};
constexpr base::Duration kBlockedRetry = std::chrono::seconds{30};
const base::FormFields kUnprotected{{"protection", "0"}};

// Returns, for example, "shutting down VM 105 on pve1".
std::string progress_text(const std::string& upid) {
    const auto task = parse_upid(upid);
    if (!task) return "waiting for task " + upid;
    const auto vm = " VM " + task->id + " on " + task->node;
    if (task->type == "qmshutdown") return "shutting down" + vm;
    if (task->type == "qmstop") return "stopping" + vm;
    if (task->type == "qmdestroy") return "destroying" + vm;
    if (task->type == "imgdel") return "deleting the boot image on " + task->node;
    return "waiting for task " + task->type + " on host " + task->node;
}

std::string hanging_text(const std::string& upid) {
    const auto task = parse_upid(upid).value_or(Upid());
    return "task " + task.type + " (" + task.id + ") on host " + task.node +
           " does not end, although the operator asked Proxmox to stop it: most likely it waits for a "
           "storage that does not "
           "answer; see the host's log. It ends at the latest when the host is restarted";
}

// Reports whether the VM has a lock whose maker is unknown. Our own task may hold it if its UPID was lost.
bool is_in_unknown_hands(const RemoveObservation& seen) {
    if (seen.look.presence != Presence::present) return false;
    const bool is_half_made = seen.look.ownership == Ownership::half_made && !seen.is_own_creation;
    return is_half_made || seen.look.config.lock() == "destroyed";
}

// Returns, for example, "stopping VM 105 on pve1". Empty: the step has no task.
std::string task_text(RemoveStep step, const Look& machine) {
    const auto vm = " VM " + std::to_string(machine.vmid) + " on " + machine.host;
    if (step == RemoveStep::shut_down) return "shutting down" + vm;
    if (step == RemoveStep::stop) return "stopping" + vm;
    if (step == RemoveStep::destroy) return "destroying" + vm;
    return {};
}

StopResult in_progress(std::string message, std::string task, base::Duration retry_after) {
    RemovalInProgress result;
    result.message = std::move(message);
    result.task = std::move(task);
    result.retry_after = retry_after;
    return result;
}

StopResult blocked(std::string reason, std::string message) {
    RemovalBlocked result;
    result.reason = std::move(reason);
    result.message = std::move(message);
    result.retry_after = kBlockedRetry;
    return result;
}

StopResult not_permitted(std::string message, base::Duration retry_after) {
    auto result = blocked("MissingPrivileges", std::move(message));
    std::get<RemovalBlocked>(result).retry_after = retry_after;
    return result;
}

bool changes_the_machine(RemoveStep step) {
    return step == RemoveStep::set_aside || step == RemoveStep::unprotect || step == RemoveStep::shut_down ||
           step == RemoveStep::stop || step == RemoveStep::destroy;
}

// Reports whether the task makes a machine. If the machine is unwanted, its pool decides how early such a
// task may be ended.
bool is_of_making(std::string_view type) {
    return type == "qmcreate" || type == "qmclone" || type == "imgcopy" || type == "resize" ||
           type == "qmstart";
}

// Converts the result. A removal never ends with a machine that is just off.
RemoveResult as_removal(StopResult result) {
    if (auto* busy = std::get_if<RemovalInProgress>(&result)) return std::move(*busy);
    if (auto* why = std::get_if<RemovalBlocked>(&result)) return std::move(*why);
    if (std::holds_alternative<Gone>(result)) return Gone();
    return RemovalInProgress();
}

}  // namespace

asio::awaitable<RemoveResult> MachineRemover::remove(MachineIdentity identity, MachineRecord record,
                                                     InUseCheck in_use) {
    Command command{Aim::removal, std::move(identity), std::move(record), std::move(in_use)};
    auto result = co_await advance(std::move(command));
    co_return as_removal(std::move(result));
}

asio::awaitable<StopResult> MachineRemover::stop(MachineIdentity identity, MachineRecord record,
                                                 InUseCheck in_use) {
    Command command{Aim::stop, std::move(identity), std::move(record), std::move(in_use)};
    co_return co_await advance(std::move(command));
}

asio::awaitable<StopResult> MachineRemover::advance(Command command) {
    const auto& [aim, identity, record, in_use] = command;
    if (record.machine_id.empty()) co_return Gone();  // an ID is recorded before anything is made
    const auto uuid = identity.system_uuid;
    const auto pause = pauses_.left(uuid);
    if (pause && pause->lacks_right) co_return not_permitted(pause->why, pause->wait);
    if (pause) co_return in_progress(pause->why, record.task, pause->wait);
    try {
        const auto waiting = co_await task_under_way(identity, record);
        if (waiting) co_return *waiting;
        auto look = co_await machines_.find(identity, record);
        auto seen = co_await observe(command, std::move(look));
        unread_.end(uuid);
        auto decision = next_removal_step(seen);
        if (unsure_.contains(uuid) || is_in_unknown_hands(seen)) {
            const auto others = co_await tasks_.at_work(seen.look.host, seen.look.vmid);
            unsure_.erase(uuid);
            if (!others.empty()) co_return in_progress(progress_text(others.front()), others.front(), kSoon);
        }
        if (decision.step == RemoveStep::search_elsewhere) {
            look = co_await machines_.find_elsewhere(identity);
            seen = co_await observe(command, std::move(look));
            seen.searched_elsewhere = true;
            decision = next_removal_step(seen);
        }
        if (changes_the_machine(decision.step))
            client_.require_sole_operator("removing VM " + std::to_string(seen.look.vmid) + " on " +
                                          seen.look.host);
        const bool ends_it = decision.step == RemoveStep::shut_down || decision.step == RemoveStep::stop;
        const bool is_used = ends_it && in_use && co_await in_use();
        if (is_used) co_return in_progress(kInUseAfterAll, "", kSoon);
        if (decision.step == RemoveStep::destroy) {
            auto obstacle = co_await volume_obstacle(seen.look);
            if (!obstacle.empty()) co_return blocked("UnknownVolumes", std::move(obstacle));
        }
        co_return co_await act(identity, std::move(seen), std::move(decision), record.task);
    } catch (const ProxmoxError& error) {
        if (error.kind == ErrorKind::held) co_return blocked("RemovalHeld", error.what());
        // Each new leader waits so. No person is needed, so the removal is not stuck.
        if (error.kind == ErrorKind::unsettled)
            co_return in_progress(error.what(), record.task, kBlockedRetry);
        if (error.kind == ErrorKind::lock_timeout || error.kind == ErrorKind::outcome_unknown)
            unsure_.insert(uuid);
        // The task that made the machine may be the only proof of its owner.
        const bool is_proof = began_creation(record.task, client_.user(), vmid_of(record.machine_id));
        const auto proof = is_proof ? record.task : std::string();
        if (is_repeated_calmly(error))
            co_return in_progress(error.what(), proof, pauses_.begin(uuid, error.what()));
        if (is_passing(error.kind)) co_return in_progress(error.what(), proof, unread_.begin(uuid));
        if (error.kind == ErrorKind::permission)
            co_return not_permitted(error.what(), pauses_.begin(uuid, error.what(), true));
        throw;
    }
}

asio::awaitable<std::optional<StopResult>> MachineRemover::task_under_way(const MachineIdentity& identity,
                                                                          MachineRecord record) {
    const auto upid = record.task;
    if (upid.empty()) co_return std::nullopt;
    const bool is_followed = tasks_.is_followed(upid);
    const auto task = parse_upid(upid);
    const auto type = task ? task->type : std::string("unknown");
    // A copy of the control plane knows this task, too, and must not stop it.
    if (is_of_making(type)) client_.require_sole_operator("stopping the task that makes a VM");
    const auto patience = is_of_making(type) ? record.patience : base::Duration();
    const auto status = co_await tasks_.end_overdue(upid, patience);
    if (status.outcome == TaskOutcome::running) {
        if (tasks_.defies_stopping(upid)) co_return blocked("TaskHangs", hanging_text(upid));
        const auto* stopped = tasks_.was_stopped(upid)
                                  ? "; the operator asked Proxmox to stop the task, because it did not end"
                                  : "";
        co_return in_progress(progress_text(upid) + stopped, upid, tasks_.next_poll(upid));
    }
    // An old success that is read again must not end the pauses.
    if (status.outcome == TaskOutcome::succeeded && is_followed) {
        pauses_.end(identity.system_uuid);
        repeats_.end(identity.system_uuid);
    }
    if (type == "qmdestroy" && status.has_warnings) {
        base::log::warning("Destroyed a VM with warnings; a volume may be left",
                           {{"vmid", task->id}, {"host", task->node}, {"task", upid}});
    }
    // Other task types made the machine; they failed before its removal began.
    const bool is_of_removal =
        type == "qmshutdown" || type == "qmstop" || type == "qmdestroy" || type == "imgdel";
    if (status.outcome != TaskOutcome::failed) co_return std::nullopt;
    const bool is_lock = classify_exit(status.exit_status) == ErrorKind::lock_timeout;
    if (is_lock) unsure_.insert(identity.system_uuid);
    if (!is_of_removal && !is_lock) co_return std::nullopt;
    const auto explained = co_await tasks_.explained(upid, status);
    const auto why = explained.complaint();
    if (is_of_removal)
        base::log::warning("A task of a removal failed; it is tried again",
                           {{"type", type}, {"vmid", task->id}, {"error", why}});
    // A disk in use stays so for hours. After a failed shutdown, a hard stop is possible.
    if (!is_lock && type == "qmshutdown") co_return std::nullopt;
    const auto message = "task " + type + " failed: " + why;
    co_return in_progress(message, "", pauses_.begin(identity.system_uuid, message));
}

asio::awaitable<RemoveObservation> MachineRemover::observe(const Command& command, Look look) {
    const auto& identity = command.identity;
    RemoveObservation seen;
    seen.aim = command.aim;
    if (look.presence == Presence::absent) locks_.forget(identity.system_uuid);
    if (look.presence == Presence::present) {
        const auto lock = look.config.lock();
        seen.explanation = explain_ownership(look.config, look.vmid, identity, settings_.managed_tag());
        seen.is_own_creation = began_creation(command.record.task, client_.user(), look.vmid);
        if (is_creation_lock(lock)) {
            seen.lock_is_stale = locks_.seen(identity.system_uuid);
        } else {
            locks_.forget(identity.system_uuid);
        }
        const bool is_ours = look.ownership == Ownership::ours || look.ownership == Ownership::unfinished;
        if (is_ours && lock.empty()) {
            seen.is_running = co_await machines_.is_running(look.host, look.vmid);
            seen.was_shut_down = shut_down_.contains(identity.system_uuid);
        }
    }
    if (look.presence == Presence::hidden && look.vmid > 0) {
        seen.is_own_creation = co_await died_out_of_sight(client_, tasks_, command.record);
        if (seen.is_own_creation) seen.explanation = hidden_half_made_text(command.record);
    }
    seen.look = std::move(look);
    co_return seen;
}

asio::awaitable<StopResult> MachineRemover::act(MachineIdentity identity, RemoveObservation seen,
                                                RemoveDecision decision, std::string recorded_task) {
    std::string task;
    auto doing = task_text(decision.step, seen.look);
    if (!doing.empty()) {
        const auto early = repeats_.left(identity.system_uuid);
        if (early && !seen.is_own_creation) recorded_task.clear();
        if (early) co_return in_progress(std::move(doing), std::move(recorded_task), early->wait);
        repeats_.begin(identity.system_uuid, std::move(doing));
    }
    switch (decision.step) {
        case RemoveStep::gone:
            shut_down_.erase(identity.system_uuid);
            co_return Gone();
        case RemoveStep::stopped:
            shut_down_.erase(identity.system_uuid);
            co_return Stopped();
        case RemoveStep::set_aside: {
            const auto change = unless_changed(seen.look.config, set_aside_change(seen.look.config));
            co_await client_.change(configure_leaving_vm(seen.look.host, seen.look.vmid, change));
            co_return in_progress("tagging the VM as set aside", "", kSoon);
        }
        case RemoveStep::blocked:
            co_return blocked(std::move(decision.reason), std::move(decision.message));
        case RemoveStep::wait:
        case RemoveStep::search_elsewhere:
            // The task that made the machine is the only proof of its owner.
            if (!seen.is_own_creation) recorded_task.clear();
            co_return in_progress(std::move(decision.message), std::move(recorded_task), kRemovalRetry);
        case RemoveStep::unprotect: {
            const auto change = unless_changed(seen.look.config, kUnprotected);
            co_await client_.change(configure_leaving_vm(seen.look.host, seen.look.vmid, change));
            co_return in_progress("removing the template's protection from the clone", "", kSoon);
        }
        case RemoveStep::shut_down:
            task = text_of(co_await client_.change(shut_down_vm(seen.look.host, seen.look.vmid)));
            shut_down_.insert(identity.system_uuid);
            break;
        case RemoveStep::stop:
            task = co_await switch_off(seen.look);
            break;
        case RemoveStep::destroy: {
            task = co_await images_.delete_for_destruction(identity, seen.look);
            if (!task.empty()) break;
            const auto looked_at = clock_.now();
            const bool is_changed = co_await has_changed(identity, seen.look);
            if (is_changed)
                co_return in_progress("looking again at the VM, which was changed meanwhile", "", kSoon);
            task = co_await destroy(seen.look, looked_at);
            break;
        }
    }
    const auto poll = tasks_.next_poll(task);
    auto text = progress_text(task);
    co_return in_progress(std::move(text), std::move(task), poll);
}

asio::awaitable<std::string> MachineRemover::switch_off(const Look& machine) {
    bool is_old = false;
    try {
        const auto upid = co_await client_.change(stop_vm(machine.host, machine.vmid));
        co_return text_of(upid);
    } catch (const ProxmoxError& error) {
        // Before PVE 8.2 a stop cannot overrule a running shutdown. Proxmox then refuses the parameter before
        // it does anything.
        is_old = error.kind == ErrorKind::invalid_request && error.errors.contains("overrule-shutdown");
        if (!is_old) throw;
    }
    auto call = stop_vm(machine.host, machine.vmid);
    call.parameters.clear();
    const auto upid = co_await client_.change(std::move(call));
    co_return text_of(upid);
}

asio::awaitable<std::string> MachineRemover::volume_obstacle(const Look& machine) {
    auto made = co_await volumes_.of_machine(machine.config);
    co_return co_await guard_.obstacle(machine.host, machine.vmid, std::move(made),
                                       machine.config.option("digest"));
}

// A destruction has no digest, and the looks at volumes and images take a while. What somebody attached in
// the meantime would be destroyed with the VM.
asio::awaitable<bool> MachineRemover::has_changed(const MachineIdentity& identity, const Look& machine) {
    const auto now = co_await machines_.look_at(identity, machine.host, machine.vmid);
    co_return now.presence != machine.presence || now.ownership != machine.ownership ||
        now.config.option("digest") != machine.config.option("digest");
}

asio::awaitable<std::string> MachineRemover::destroy(const Look& machine, base::TimePoint looked_at) {
    auto destruction = destroy_vm(machine.host, machine.vmid);
    destruction.not_after = looked_at + kLongestLastLook;
    try {
        const auto upid = co_await client_.change(destruction);
        co_return text_of(upid);
    } catch (const ProxmoxError& error) {
        // The clone may still have its template's protection. A change that removed it may be pending, and
        // shows as if it were applied.
        const bool is_inherited =
            error.kind == ErrorKind::is_protected && machine.ownership == Ownership::unfinished;
        if (!is_inherited) throw;
    }
    const auto change = unless_changed(machine.config, kUnprotected);
    // The digest of this change proves that the VM is still the same.
    destruction.not_after = clock_.now() + kLongestLastLook;
    co_await client_.change(configure_leaving_vm(machine.host, machine.vmid, change));
    const auto upid = co_await client_.change(std::move(destruction));
    co_return text_of(upid);
}

}  // namespace providers::proxmox

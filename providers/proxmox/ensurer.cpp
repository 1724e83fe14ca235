#include "providers/proxmox/ensurer.hpp"

#include <utility>

#include "base/log.hpp"
#include "providers/proxmox/cluster/needed_rights.hpp"
#include "providers/proxmox/config/creation.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/vm/half_made.hpp"
#include "providers/proxmox/vm/hidden_creation.hpp"
#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/property_string.hpp"
#include "providers/proxmox/wire/proxmox_error.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kRetry = std::chrono::seconds{3};
constexpr base::Duration kPersonRetry = std::chrono::seconds{30};  // a person has to act
constexpr base::Duration kSlotRetry = std::chrono::milliseconds{500};
constexpr base::Duration kFresh = std::chrono::seconds{5};
constexpr base::Duration kUntouchedAge = std::chrono::seconds{10};
constexpr base::Duration kOwnRightsAge = std::chrono::minutes{5};
constexpr base::Duration kRefusalAge = std::chrono::minutes{1};
constexpr base::Duration kWaitForgotten = std::chrono::hours{1};

bool carries_image(const MachineSpec& spec) {
    return spec.boot_image && !spec.served_boot_data();
}

MachineState state_during(const std::string& upid) {
    const auto task = parse_upid(upid);
    return task && task->type == "qmstart" ? MachineState::starting : MachineState::creating;
}

// Returns the reason if Proxmox refused a change and repeating it cannot help; nullptr: the call was no such
// change.
const char* reason_of_refusal(const std::string& operation) {
    if (operation == "create_vm") return "CreateFailed";
    if (operation == "clone_vm") return "CloneFailed";
    if (operation == "resize_disk") return "ResizeFailed";
    if (operation == "upload_iso") return "BootImageFailed";
    if (operation == "configure_vm") return "ConfigureFailed";
    if (operation == "start_vm") return "StartFailed";
    if (operation.starts_with("agent_")) return "GuestAgentFailed";
    return nullptr;
}

// Returns the message about a machine while its task runs.
std::string waiting_for(const std::string& upid) {
    const auto task = parse_upid(upid);
    return task ? "waiting for task " + task->type + " on host " + task->node : "waiting for task " + upid;
}

// Marks a machine that waits for what is not its host's fault.
EnsureResult waiting_for_others(EnsureResult result) {
    std::get<Machine>(result).waits_for_others = true;
    return result;
}

EnsureResult not_ready(const ProxmoxError& error, base::Duration retry_after) {
    return NotReady{error.what(), retry_after};
}

EnsureResult attempt_failed(std::string reason, std::string message, bool avoid_host) {
    return AttemptFailed{std::move(reason), std::move(message), avoid_host};
}

// Returns nullopt if the error is not an expected outcome.
std::optional<EnsureResult> outcome_of(const ProxmoxError& error) {
    if (is_passing(error.kind)) return not_ready(error, kRetry);
    switch (error.kind) {
        case ErrorKind::permission:
        case ErrorKind::unauthenticated:
            return not_ready(error, kPersonRetry);  // a person has to act
        case ErrorKind::not_found:
            return not_ready(error, kRetry);  // it was removed between two requests
        default:
            break;
    }
    const auto* reason = reason_of_refusal(error.operation);
    if (!reason) return std::nullopt;
    AttemptFailed failed{reason, error.what(), error.kind != ErrorKind::invalid_request};
    failed.is_excused = lacks_disk_room(error.kind, error.what());
    failed.is_refused = error.operation == "create_vm" || error.operation == "clone_vm";
    return failed;
}

}  // namespace

asio::awaitable<EnsureResult> Ensurer::ensure(MachineSpec spec) {
    const auto uuid = spec.identity.system_uuid;
    auto result = co_await try_step(std::move(spec));
    note_wait(uuid, result);
    co_return result;
}

void Ensurer::note_wait(const std::string& uuid, EnsureResult& result) {
    const auto now = clock_.now();
    std::erase_if(waits_, [now](const auto& entry) { return now - entry.second.last > kWaitForgotten; });
    auto* machine = std::get_if<Machine>(&result);
    const bool is_paused = std::holds_alternative<NotReady>(result);
    const bool is_in_creation =
        machine && machine->state != MachineState::placed && machine->state != MachineState::running;
    if (is_paused && !waits_.contains(uuid)) return;
    if (!is_paused && !is_in_creation) {
        waits_.erase(uuid);
        return;
    }
    auto& wait = waits_[uuid];
    if (wait.since) wait.total += now - *wait.since;
    wait.since.reset();
    if (is_paused || machine->waits_for_others) wait.since = now;
    wait.last = now;
    if (machine) machine->waited = wait.total;
}

asio::awaitable<EnsureResult> Ensurer::try_step(MachineSpec spec) {
    const auto uuid = spec.identity.system_uuid;
    const auto host = spec.record.host;
    const auto pause = pauses_.left(uuid);
    if (pause) co_return NotReady{pause->why, pause->wait};
    std::optional<ProxmoxError> refusal;
    try {
        auto result = co_await step(std::move(spec));
        unread_.end(uuid);
        note_untouched(result);
        co_return result;
    } catch (const ProxmoxError& error) {
        const bool lacks_right = error.kind == ErrorKind::permission;
        if (is_repeated_calmly(error) || lacks_right)
            co_return not_ready(error, pauses_.begin(uuid, error.what(), lacks_right));
        if (is_passing(error.kind)) co_return not_ready(error, unread_.begin(uuid));
        refusal = error;
        if (!outcome_of(error)) throw;
    } catch (const NoIsoStorage& error) {
        co_return attempt_failed("BootImageFailed", error.what(), true);
    }
    const bool is_of_disk = refusal->operation != "upload_iso";
    if (is_of_disk && lacks_disk_room(refusal->kind, refusal->message))
        co_await placer_.note_full_storage(host, refusal->message);
    co_return *outcome_of(*refusal);
}

asio::awaitable<EnsureResult> Ensurer::step(MachineSpec spec) {
    if (spec.record.machine_id.empty()) co_return co_await placer_.place(std::move(spec));
    const auto in_guest = parse_agent_task(spec.record.task);
    if (in_guest && spec.join) co_return co_await join(std::move(spec), *in_guest);
    if (is_untouched(spec)) {
        const auto state = co_await view_.state(kUntouchedAge);
        const auto* host = state->find_host(spec.record.host);
        if (host && host->is_online) co_return co_await create(std::move(spec));
    }
    Look seen;
    EnsureDecision decision;
    bool image_uploaded = false;
    std::string taken;  // why the task of a clone refused its ID
    if (!spec.record.task.empty()) {
        const auto upid = parse_upid(spec.record.task).value_or(Upid());
        const bool is_followed = tasks_.is_followed(spec.record.task);
        auto status = co_await tasks_.status(spec.record.task);
        if (status.outcome == TaskOutcome::failed)
            status = co_await tasks_.explained(spec.record.task, std::move(status));
        cloner_.note_task(spec, upid, status);
        // An old success that is read again must not end a pause.
        if (status.outcome == TaskOutcome::succeeded && is_followed) pauses_.end(spec.identity.system_uuid);
        image_uploaded = upid.type == "imgcopy" && status.outcome == TaskOutcome::succeeded;
        const bool is_clone = upid.type == "qmclone" && status.outcome == TaskOutcome::failed;
        if (is_clone && status.failure() == ErrorKind::exists) taken = status.complaint();
        const EnsureWish wish{carries_image(spec), settings_.are_finished_later()};
        decision = after_task(upid.type, status, wish);
        // The task may have ended long ago. Since then its host may have been down, and the machine may no
        // longer be ours.
        if (status.outcome == TaskOutcome::succeeded && !is_followed) decision.step = EnsureStep::look;
        if (decision.step != EnsureStep::try_again)
            paused_after_.erase(spec.identity.system_uuid);
        else if (std::exchange(paused_after_[spec.identity.system_uuid], spec.record.task) ==
                 spec.record.task)
            decision.step = EnsureStep::look;
    }
    if (decision.step == EnsureStep::look) {
        std::optional<ProxmoxError> unanswered;
        try {
            seen =
                co_await machines_.look_at(spec.identity, spec.record.host, vmid_of(spec.record.machine_id));
        } catch (const ProxmoxError& error) {
            const bool host_may_be_down =
                error.kind == ErrorKind::outcome_unknown || error.kind == ErrorKind::unreachable;
            if (!host_may_be_down) throw;
            unanswered = error;
        }
        if (unanswered) co_return co_await without_host(std::move(spec), *unanswered);
        decision = co_await decide(spec, seen, image_uploaded);
        // Cloning to this ID would fail again.
        if (!taken.empty() && decision.step == EnsureStep::create)
            co_return co_await resolve_taken_id(std::move(spec), std::move(taken));
    }
    co_return co_await act(std::move(spec), std::move(decision), std::move(seen));
}

bool Ensurer::is_untouched(const MachineSpec& spec) {
    const auto placed = untouched_.extract(spec.identity.system_uuid);
    return placed && placed.mapped() == spec.record;
}

void Ensurer::note_untouched(const EnsureResult& result) {
    const auto* machine = std::get_if<Machine>(&result);
    if (machine && machine->state == MachineState::placed)
        untouched_[machine->identity.system_uuid] = machine->record;
}

asio::awaitable<EnsureResult> Ensurer::without_host(MachineSpec spec, ProxmoxError why) {
    const auto since = client_.last_answer();
    auto found = co_await machines_.find(spec.identity, spec.record);
    if (found.presence == Presence::present && found.host != spec.record.host) {
        spec.record.host = found.host;
        co_return co_await progress(std::move(spec), MachineState::creating, "",
                                    "the VM was moved to " + found.host);
    }
    if (found.presence == Presence::host_down)
        co_return attempt_failed("HostDown", host_down_text(found), true);
    if (found.presence != Presence::absent) throw ProxmoxError(std::move(why));
    const auto state = co_await view_.majority_state(kFresh);
    const auto* host = state->find_host(spec.record.host);
    const bool is_off = !host || host->is_down();
    if (!is_off) throw ProxmoxError(std::move(why));
    // The host is down. Cut off from its cluster it executes nothing, so nothing can appear there
    // later.
    co_await client_.confirm_quorum(since);
    spec.record = MachineRecord();
    co_return co_await placer_.place(std::move(spec));
}

asio::awaitable<EnsureDecision> Ensurer::decide(const MachineSpec& spec, const Look& look,
                                                bool image_uploaded) {
    EnsureObservation seen;
    seen.image_uploaded = image_uploaded;
    seen.look = look;
    seen.wants_image = carries_image(spec);
    if (look.presence == Presence::absent) locks_.forget(spec.identity.system_uuid);
    if (look.presence == Presence::hidden) seen.sees_own = co_await view_.sees_all_machines(kOwnRightsAge);
    if (look.presence == Presence::present) {
        const auto lock = look.config.lock();
        seen.explanation = explain_ownership(look.config, look.vmid, spec.identity, settings_.managed_tag());
        seen.has_image = drive_with_file(look.config, boot_image_name(spec.identity)).has_value();
        seen.is_own_creation = began_creation(spec.record.task, client_.user(), look.vmid);
        if (is_creation_lock(lock)) {
            seen.lock_is_stale = locks_.seen(spec.identity.system_uuid);
        } else {
            locks_.forget(spec.identity.system_uuid);
        }
        if (look.ownership == Ownership::ours && lock.empty()) {
            seen.needs_resize = wanted_disk_size(settings_, look.config).has_value();
            seen.is_running = co_await machines_.is_running(look.host, look.vmid);
        }
    }
    co_return after_look(seen);
}

asio::awaitable<EnsureResult> Ensurer::act(MachineSpec spec, EnsureDecision decision, Look look) {
    switch (decision.step) {
        case EnsureStep::follow_task: {
            const auto task = spec.record.task;
            co_return co_await progress(std::move(spec), state_during(task), task, waiting_for(task));
        }
        case EnsureStep::create:
            co_return co_await create(std::move(spec));
        case EnsureStep::configure:
            co_return co_await configure(std::move(spec), std::move(look.config));
        case EnsureStep::resize:
            co_return co_await resize_or_start(std::move(spec), std::move(look.config));
        case EnsureStep::upload_image:
            co_return co_await upload(std::move(spec));
        case EnsureStep::attach_and_start:
            co_return co_await attach_and_start(std::move(spec), std::move(look.config));
        case EnsureStep::start:
            co_return co_await start(std::move(spec));
        case EnsureStep::finish:
            co_return co_await finish(std::move(spec));
        case EnsureStep::choose_another_id:
            co_return co_await placer_.place_under_another_id(std::move(spec), std::move(decision.message));
        case EnsureStep::find_creation:
            co_return co_await find_creation(std::move(spec), std::move(decision.message));
        case EnsureStep::fail:
            if (decision.lacks_disk_room)
                co_await placer_.note_full_storage(spec.record.host, decision.message);
            co_return AttemptFailed{std::move(decision.reason), std::move(decision.message),
                                    decision.avoid_host, decision.is_excused};
        case EnsureStep::try_again:
            co_return waiting_for_others(co_await pause(std::move(spec), std::move(decision.message)));
        case EnsureStep::retry_later:
            co_return waiting_for_others(
                co_await progress(std::move(spec), MachineState::creating, "", std::move(decision.message)));
        case EnsureStep::look:
            break;
    }
    co_return co_await progress(std::move(spec), MachineState::creating, "", std::move(decision.message));
}

asio::awaitable<EnsureResult> Ensurer::pause(MachineSpec spec, std::string message) {
    const auto wait = pauses_.begin(spec.identity.system_uuid);
    // The task that began the creation may be the only proof of the machine's owner.
    const bool is_proof = began_creation(spec.record.task, client_.user(), vmid_of(spec.record.machine_id));
    const auto task = is_proof ? spec.record.task : std::string();
    auto result = co_await progress(std::move(spec), MachineState::creating, task, std::move(message));
    std::get<Machine>(result).retry_after = wait;
    co_return result;
}

asio::awaitable<std::string> Ensurer::missing_to_join(const MachineSpec& spec) {
    const bool has_image = carries_image(spec);
    const bool has_network = changes_inherited_interfaces(settings_, spec);
    if (!spec.join && !has_image && !has_network) co_return std::string();
    const auto permissions = co_await view_.permissions(kRefusalAge);
    if (has_network) {
        const auto missing = missing_network_privileges(settings_, permissions);
        if (!missing.empty()) co_return lack_text(client_.user(), permissions, missing, kNeededByNetworks);
    }
    if (spec.join) {
        auto missing = missing_agent_privileges(settings_, permissions, 0);
        if (missing.empty()) co_return std::string();
        const auto answer = co_await client_.read(get_version());
        const auto version = answer.is_object() ? text_of(answer.get_object(), "version") : std::string();
        missing = missing_agent_privileges(settings_, permissions, std::atoi(version.c_str()));
        co_return lack_text(client_.user(), permissions, missing, kNeededByAgent);
    }
    if (!has_image) co_return std::string();
    const auto storage = co_await images_.storage_on(spec.record.host);
    co_return lack_text(client_.user(), permissions,
                        missing_image_privileges(settings_, permissions, storage), kNeededByImages);
}

asio::awaitable<EnsureResult> Ensurer::create(MachineSpec spec) {
    auto missing = co_await missing_to_join(spec);
    if (!missing.empty()) co_return NotReady{std::move(missing), kPersonRetry};
    std::string refusal;
    try {
        if (settings_.spec.template_) co_return co_await clone(spec);
        std::string boot_url;
        if (auto* served = spec.served_boot_data()) boot_url = co_await served->url(spec.record);
        const auto parameters = blank_vm_parameters(settings_, spec, boot_url);
        const auto upid =
            co_await client_.change(create_vm(spec.record.host, vmid_of(spec.record.machine_id), parameters));
        const auto task = text_of(upid);
        co_return co_await progress(std::move(spec), MachineState::creating, task, waiting_for(task));
    } catch (const ProxmoxError& error) {
        if (error.kind != ErrorKind::exists) throw;
        refusal = error.message;
    }
    co_return co_await resolve_taken_id(std::move(spec), std::move(refusal));
}

asio::awaitable<EnsureResult> Ensurer::clone(MachineSpec spec) {
    const auto started = co_await cloner_.clone(spec);
    if (!started.upid.empty()) {
        co_return co_await progress(std::move(spec), MachineState::creating, started.upid,
                                    waiting_for(started.upid));
    }
    auto result = co_await progress(std::move(spec), MachineState::placed, "", started.message);
    std::get<Machine>(result).retry_after = kSlotRetry;
    co_return result;
}

asio::awaitable<EnsureResult> Ensurer::configure(MachineSpec spec, VmConfig config) {
    co_await configurer_.configure(spec, config);
    co_return co_await resize_or_start(std::move(spec), std::move(config));
}

asio::awaitable<EnsureResult> Ensurer::resize_or_start(MachineSpec spec, VmConfig config) {
    const auto upid = co_await configurer_.resize(spec, std::move(config));
    if (upid.empty()) co_return co_await start(std::move(spec));
    co_return co_await progress(std::move(spec), MachineState::creating, upid, waiting_for(upid));
}

asio::awaitable<EnsureResult> Ensurer::upload(MachineSpec spec) {
    auto image = co_await spec.boot_image->iso_image(spec.record);
    const auto task = co_await images_.upload(spec.identity, spec.record.host, std::move(image));
    co_return co_await progress(std::move(spec), MachineState::creating, task, waiting_for(task));
}

asio::awaitable<EnsureResult> Ensurer::attach_and_start(MachineSpec spec, VmConfig config) {
    co_await images_.attach(spec.identity, spec.record.host, vmid_of(spec.record.machine_id),
                            std::move(config));
    co_return co_await start(std::move(spec));
}

asio::awaitable<EnsureResult> Ensurer::start(MachineSpec spec) {
    const auto upid = co_await client_.change(start_vm(spec.record.host, vmid_of(spec.record.machine_id)));
    const auto task = text_of(upid);
    co_return co_await progress(std::move(spec), MachineState::starting, task, waiting_for(task));
}

asio::awaitable<EnsureResult> Ensurer::finish(MachineSpec spec) {
    if (!spec.join) co_return co_await progress(std::move(spec), MachineState::running, "", "running");
    const auto next = agent_.begin();
    auto result =
        co_await progress(std::move(spec), MachineState::starting, to_string(next.task), next.message);
    std::get<Machine>(result).retry_after = next.retry_after;
    co_return result;
}

asio::awaitable<EnsureResult> Ensurer::join(MachineSpec spec, AgentTask task) {
    GuestAgent::Progress next;
    bool is_lost = false;
    try {
        next = co_await agent_.step(spec, task);
    } catch (const ProxmoxError& error) {
        is_lost = error.kind == ErrorKind::not_found || error.kind == ErrorKind::not_running;
        if (!is_lost) throw;
    }
    if (is_lost) {
        co_return co_await progress(std::move(spec), MachineState::starting, "",
                                    "the VM was moved or switched off while its guest was joining");
    }
    if (const auto* failed = std::get_if<AttemptFailed>(&next)) co_return *failed;
    if (std::holds_alternative<GuestAgent::Joined>(next)) {
        co_return co_await progress(std::move(spec), MachineState::running, "", "running");
    }
    const auto& waiting = std::get<GuestAgent::Waiting>(next);
    auto result =
        co_await progress(std::move(spec), MachineState::starting, to_string(waiting.task), waiting.message);
    std::get<Machine>(result).retry_after = waiting.retry_after;
    co_return result;
}

asio::awaitable<EnsureResult> Ensurer::progress(MachineSpec spec, MachineState state, std::string task,
                                                std::string message) {
    const auto cluster = co_await view_.name();
    Machine machine;
    machine.state = state;
    machine.identity = spec.identity;
    machine.name = spec.name;
    machine.record = spec.record;
    machine.record.task = task;
    machine.provider_id = settings_.provider_id(cluster, spec.record.machine_id);
    if (settings_.has_zones()) machine.zone = spec.record.host;
    machine.cpu_cores = spec.cpu_cores;
    machine.memory_mib = spec.memory_mib;
    machine.message = std::move(message);
    if (state != MachineState::running) machine.retry_after = task.empty() ? kRetry : tasks_.next_poll(task);
    co_return machine;
}

// ---- the outcome of a creation of which only the beginning is known

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

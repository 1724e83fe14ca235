#include "providers/redfish/power/waker.hpp"

#include "base/text.hpp"
#include "base/uuid.hpp"
#include "providers/errors.hpp"
#include "providers/redfish/hosts/selection.hpp"

namespace providers::redfish {

namespace {

constexpr const char* kTurningOn = "is being turned on";
constexpr const char* kFoundOn = "was found on and is left to whoever turned it on";
constexpr base::Duration kSlotRetry = std::chrono::seconds{5};
// Limit of the time that a claim waits for a host that was not yet asked to turn on. BMCs restart within
// minutes.
constexpr base::Duration kHostPatience = std::chrono::minutes{5};
// Limit of the time that a BMC may omit the system's UUID. Some omit it while they start.
constexpr base::Duration kNamelessPatience = std::chrono::minutes{5};
constexpr base::Duration kNamelessRetry = std::chrono::seconds{10};

NotReady not_ready(std::string message, base::Duration retry_after) {
    return {std::move(message), retry_after};
}

AttemptFailed failed(std::string reason, std::string message) {
    AttemptFailed result;
    result.reason = std::move(reason);
    result.message = std::move(message);
    result.avoid_host = true;
    return result;
}

EnsureResult failed_ensure(const RedfishError& error) {
    const auto kind = error.kind();
    if (is_permanent(kind) || kind == RedfishErrorKind::unsupported)
        return failed(kind == RedfishErrorKind::unsupported ? "Unsupported" : reason_of(kind), error.what());
    return not_ready(error.what(), error.complaint.retry_after.value_or(kBusyRetry));
}

std::string refused_so(const Progress& progress) {
    return progress.refusal.empty() ? "" : "; its BMC says: " + progress.refusal;
}

bool is_coming(const System& system) {
    return system.power == PowerState::on || system.power == PowerState::powering_on;
}

}  // namespace

PowerLimits power_limits(const RedfishSettings& settings) {
    PowerLimits limits;
    limits.power = std::chrono::duration_cast<base::Duration>(settings.spec.timeouts.power.value);
    limits.graceful =
        std::chrono::duration_cast<base::Duration>(settings.spec.powerOff.gracefulTimeout.value);
    limits.mode = settings.spec.powerOff.mode;
    return limits;
}

Machine Waker::machine_of(const MachineSpec& spec, const Host& host, MachineState state,
                          std::string message) const {
    Machine machine;
    machine.state = state;
    machine.identity = spec.identity;
    machine.identity.system_uuid = host.system_uuid;
    machine.record.host = host.name;
    machine.record.machine_id = host.name;
    machine.name = host.node_name.empty() ? host.name : host.node_name;
    machine.provider_id = settings_.provider_id(host.name);
    if (host.capacity) {
        machine.cpu_cores = host.capacity->cpu_cores;
        machine.memory_mib = host.capacity->memory_mib;
    }
    machine.message = std::move(message);
    machine.is_bare_metal = true;
    return machine;
}

std::string Waker::why_too_late(const System& system, const Progress& progress) const {
    return "is " + (system.power_text.empty() ? "in an unknown power state" : system.power_text) + " " +
           settings_.spec.timeouts.power.str() + " after it was turned on (spec.redfish.timeouts.power)" +
           refused_so(progress);
}

EnsureResult Waker::place(const MachineSpec& spec, const std::set<std::string>& excluded) const {
    const auto hosts = fleet_.inventory().hosts(settings_.namespace_, settings_.name);
    auto choice = choose_host(hosts, spec, settings_, excluded);
    if (!choice.host) return InsufficientCapacity{"no host: " + choice.why_not, choice.is_permanent};
    return machine_of(spec, *choice.host, MachineState::placed, {});
}

asio::awaitable<EnsureResult> Waker::ensure(MachineSpec spec) {
    const auto name = spec.record.machine_id;
    if (name.empty()) co_return place(spec, {});
    auto host = co_await binding_.read(name);
    const bool is_ours = host && is_bound_to(*host, spec.identity);
    // The candidate was lost before it was taken, so the claim gets another one.
    if (!host || (!is_ours && why_unusable(*host, settings_))) co_return place(spec, {name});
    if (!is_ours) {
        const auto taken = co_await binding_.take(*host, spec.identity);
        if (!taken) co_return not_ready(changed_meanwhile(name), kConflictRetry);
        host = taken;
    }
    // The claim must record the host's identity before any request, as removal compares it with the BMC's.
    if (!base::same_uuid(spec.identity.system_uuid, host->system_uuid))
        co_return machine_of(spec, *host, MachineState::creating, "host " + name + " is reserved");
    co_return co_await wake(std::move(spec), std::move(*host));
}

asio::awaitable<EnsureResult> Waker::wake(MachineSpec spec, Host host) {
    const auto name = host.name;
    const auto identity = spec.identity;
    auto result = co_await try_to_wake(std::move(spec), std::move(host));
    // Every failure counts for the host, so that other claims avoid it.
    if (const auto* failure = std::get_if<AttemptFailed>(&result))
        co_await binding_.note_failure(identity, name, failure->message);
    co_return result;
}

asio::awaitable<EnsureResult> Waker::try_to_wake(MachineSpec spec, Host host) {
    const auto name = host.name;
    const auto claim_uid = spec.identity.claim_uid;
    std::optional<RedfishError> trouble;
    try {
        const auto station = co_await fleet_.station(host);
        const auto visit = co_await station->bmc.visit();
        auto result = co_await step(std::move(spec), host, station);
        progress_.of(name, claim_uid).trouble_since.reset();
        co_return result;
    } catch (const RedfishError& error) {
        trouble = error;
    } catch (const CredentialsError& error) {
        co_return failed("CredentialsMissing", error.what());
    } catch (const std::invalid_argument& error) {
        co_return failed("InvalidHost", error.what());
    }
    auto& progress = progress_.of(name, claim_uid);
    if (!progress.trouble_since) progress.trouble_since = clock_.now();
    // Another host may be better. A host that was asked to turn on must first be turned off anyway.
    const bool is_hopeless = !progress.on_asked && host.use.stage == HostStage::reserved &&
                             clock_.now() - *progress.trouble_since >= kHostPatience;
    if (is_hopeless) co_return failed(reason_of(trouble->kind()), trouble->what());
    co_return failed_ensure(*trouble);
}

asio::awaitable<EnsureResult> Waker::step(MachineSpec spec, Host host, std::shared_ptr<Station> station) {
    const auto name = host.name;
    const auto system = co_await station->hardware.system();
    auto& progress = progress_.of(name, spec.identity.claim_uid);
    if (!system.uuid.empty() && !base::same_uuid(system.uuid, host.system_uuid)) {
        co_return failed("HostIdentityMismatch", "the BMC of host " + name + " now reports system UUID " +
                                                     system.uuid + " instead of " + host.system_uuid);
    }
    if (system.uuid.empty()) co_return co_await await_identity(std::move(spec), std::move(host));
    progress.nameless_since.reset();
    if (!progress.on_asked && system.is_out_of_use())
        co_return failed(system.state,
                         "the BMC of host " + name + " says that its system is " + system.state);
    if (!progress.on_asked && system.is_busy())
        co_return not_ready("the BMC of host " + name + " says that its system is " + system.state,
                            kBusyRetry);
    const auto cause = cause_of(host, progress, clock_.now());
    if (is_coming(system) && cause == Cause::others) {
        co_return co_await leave_to_others(std::move(spec), std::move(host), std::move(station), kFoundOn);
    }
    if (progress.on_asked && is_coming(system)) progress.has_been_on = true;
    const bool is_off_again = progress.has_been_on && system.power == PowerState::off;
    if (!is_off_again) progress.fell.reset();
    if (is_off_again && !progress.fell) progress.fell = clock_.now();
    if (is_coming(system)) progress.task.clear();
    const bool works = co_await is_task_under_way(station, progress);
    if (!progress.task_failure.empty())
        co_return co_await give_up(std::move(spec), std::move(host),
                                   "was not turned on: " + progress.task_failure);
    switch (next_on_step(system, progress, power_limits(settings_), clock_.now())) {
        case OnStep::done: {
            const auto joining = co_await binding_.enter_joining(host, cause == Cause::ours);
            if (!joining) co_return not_ready(changed_meanwhile(name), kConflictRetry);
            co_return machine_of(spec, host, MachineState::running, {});
        }
        case OnStep::fell_back:
            co_return co_await give_up(std::move(spec), std::move(host), "went on and off again");
        case OnStep::too_late:
            co_return co_await give_up(std::move(spec), std::move(host), why_too_late(system, progress));
        case OnStep::ask:
            if (works) break;
            co_return co_await turn_on(std::move(spec), std::move(host), std::move(station), system);
        case OnStep::wait:
            break;
    }
    auto machine =
        machine_of(spec, host, MachineState::starting,
                   "host " + name + " is " +
                       (system.power_text.empty() ? "in an unknown power state" : system.power_text) +
                       ", waiting for it to be on" + refused_so(progress));
    machine.retry_after = next_look(progress.looks++);
    co_return machine;
}

// Reports whether the task is running, so that it is not started twice. A failed task ends the attempt.
asio::awaitable<bool> Waker::is_task_under_way(std::shared_ptr<Station> station, Progress& progress) {
    if (progress.task.empty()) co_return false;
    const auto outcome = co_await station->hardware.reset_task(progress.task);
    if (outcome && outcome->progress == TaskProgress::running) co_return true;
    progress.task.clear();
    if (outcome && outcome->progress == TaskProgress::failed) progress.task_failure = outcome->words;
    co_return false;
}

// Waits for a UUID. An answer without one does not mean another machine.
asio::awaitable<EnsureResult> Waker::await_identity(MachineSpec spec, Host host) {
    auto& since = progress_.of(host.name, spec.identity.claim_uid).nameless_since;
    if (!since) since = clock_.now();
    const auto what = "the BMC of host " + host.name + " reports no system UUID at the moment";
    const bool is_patient = clock_.now() - *since < kNamelessPatience;
    const bool runs = co_await fleet_.inventory().has_ready_node(host);
    if (is_patient || runs) co_return not_ready(what + "; it is asked again", kNamelessRetry);
    co_return failed("NoSystemUUID", what + " and did not within five minutes");
}

// Ends the attempt, unless the claim's Node is Ready. A Ready Node proves that something runs there, whatever
// the BMC's cached power state says. Then the attempt continues, but only the BMC can report it on.
asio::awaitable<EnsureResult> Waker::give_up(MachineSpec spec, Host host, std::string why) {
    const auto what = "host " + host.name + " " + why;
    const bool runs = co_await fleet_.inventory().has_ready_node(host);
    if (!runs) co_return failed("PowerOnFailed", what);
    auto machine = machine_of(spec, host, MachineState::starting,
                              what + ", but its Node is Ready, so its BMC is queried again");
    machine.retry_after = kNamelessRetry;
    co_return machine;
}

asio::awaitable<EnsureResult> Waker::leave_to_others(MachineSpec spec, Host host,
                                                     std::shared_ptr<Station> station, std::string why,
                                                     bool is_undone) {
    const auto name = host.name;
    try {
        co_await lock_.release(spec.identity, host, std::move(station));
    } catch (const RedfishError& error) {
        // A later look removes the mark once the host is off, but a host that is being deleted has none.
        if (host.is_being_deleted) lock_.report_left(host, error.what());
    }
    const bool is_free = co_await binding_.give_back(std::move(host), is_undone);
    if (!is_free) co_return not_ready(changed_meanwhile(name), kConflictRetry);
    progress_.forget(name);
    auto elsewhere = place(spec, {name});
    if (auto* none = std::get_if<InsufficientCapacity>(&elsewhere)) {
        none->message = "host " + name + " " + why + "; " + none->message;
        none->is_given_back = true;
    }
    co_return elsewhere;
}

// A claim turns its host on within timeouts.power, or gives it up. A host that stays longer in this stage has
// a BMC that does not answer, perhaps for days, in which the others must not wait for it.
bool Waker::is_being_turned_on(const Host& host) {
    if (host.use.stage != HostStage::powering_on || !host.use.owner) {
        turning_on_.erase(host.name);
        return false;
    }
    auto& [claim_uid, since] = turning_on_[host.name];
    if (claim_uid != host.use.owner->claim_uid) {
        claim_uid = host.use.owner->claim_uid;
        since = clock_.now();
    }
    return clock_.now() - since < power_limits(settings_).power;
}

std::optional<std::string> Waker::why_not_now(const Host& host) {
    const auto& limits = settings_.spec.concurrency;
    const auto group = limits.groupLabel.empty() ? std::string() : label_of(host, limits.groupLabel);
    std::int64_t all = 0;
    std::int64_t in_group = 0;
    for (const auto& other : fleet_.inventory().hosts(settings_.namespace_, settings_.name)) {
        if (other->name == host.name || !is_being_turned_on(*other)) continue;
        ++all;
        if (!limits.groupLabel.empty() && label_of(*other, limits.groupLabel) == group) ++in_group;
    }
    if (all >= limits.powerOns)
        return base::counted(all, "host") + " " + base::is_or_are(all) +
               " being turned on (spec.redfish.concurrency.powerOns)";
    if (limits.powerOnsPerGroup && in_group >= *limits.powerOnsPerGroup)
        return base::counted(in_group, "host") + " of " + limits.groupLabel + "=" + group + " " +
               base::is_or_are(in_group) + " being turned on (spec.redfish.concurrency.powerOnsPerGroup)";
    return std::nullopt;
}

asio::awaitable<EnsureResult> Waker::turn_on(MachineSpec spec, Host host, std::shared_ptr<Station> station,
                                             System system) {
    const auto name = host.name;
    auto& progress = progress_.of(name, spec.identity.claim_uid);
    if (!progress.on_asked) {
        if (const auto wait = why_not_now(host))
            co_return not_ready("host " + name + " waits its turn: " + *wait, kSlotRetry);
        // These come before any change of the host.
        station->hardware.require_reset_action(system);
        auto refusal = co_await lock(spec, host, station, system);
        if (refusal) co_return std::move(*refusal);
        // Once it is being turned on, its boot may already have used up what was prepared.
        const bool is_on_its_way = host.use.stage != HostStage::reserved;
        const auto prepared = is_on_its_way ? host : co_await prepare(spec, host, station, system);
        if (!prepared) co_return not_ready(changed_meanwhile(name), kConflictRetry);
        host = *prepared;
    }
    const bool is_new = host.use.stage == HostStage::reserved;
    const auto entered = co_await enter_powering_on(spec.identity, std::move(host));
    if (!entered) co_return not_ready(changed_meanwhile(name), kConflictRetry);
    // It may have come on while its boot was prepared. This also shows the effect of a dead process' request.
    system = co_await station->hardware.system();
    if (is_new && is_coming(system)) {
        const bool is_undone = co_await undo(*entered, station, system);
        co_return co_await leave_to_others(std::move(spec), *entered, std::move(station), kFoundOn,
                                           is_undone);
    }
    const auto changing = not_ready("host " + name + " is changing its power state", kConflictRetry);
    if (system.power != PowerState::off) co_return changing;
    const auto not_locked = not_ready("the AssetTag of host " + name + " was changed", kConflictRetry);
    bool is_locked = !lock_.is_wanted() || co_await lock_.still_holds(spec.identity, station, system);
    if (!is_locked) co_return not_locked;
    const bool is_kept = co_await preparation_.is_kept(spec, *entered, station, system);
    if (!is_kept && has_booted_nothing(progress_.of(name, spec.identity.claim_uid))) {
        const bool is_noted = co_await prepare_again(spec, *entered, station, system);
        if (!is_noted) co_return not_ready(changed_meanwhile(name), kConflictRetry);
        // This may have taken a minute, in which somebody else may have turned it on or taken it.
        system = co_await station->hardware.system();
        if (system.power != PowerState::off) co_return changing;
        is_locked = !lock_.is_wanted() || co_await lock_.still_holds(spec.identity, station, system);
        if (!is_locked) co_return not_locked;
    }
    co_return co_await ask(std::move(spec), *entered, std::move(station), std::move(system));
}

// Prepares the boot once. Whoever finds the host left to others must know that there is something to undo.
asio::awaitable<std::optional<Host>> Waker::prepare(MachineSpec spec, Host host,
                                                    std::shared_ptr<Station> station, System system) {
    auto& progress = progress_.of(host.name, spec.identity.claim_uid);
    if (progress.is_prepared) co_return host;
    auto noted = co_await note_prepared(std::move(host));
    if (!noted) co_return std::nullopt;
    co_await preparation_.prepare(std::move(spec), *noted, std::move(station), std::move(system));
    progress.is_prepared = true;
    co_return noted;
}

// BMCs that restart forget overrides and images. A host that was then turned on would boot its old disk.
// Returns false if the host was changed meanwhile.
asio::awaitable<bool> Waker::prepare_again(MachineSpec spec, Host host, std::shared_ptr<Station> station,
                                           System system) {
    const auto noted = co_await note_prepared(std::move(host));
    if (!noted) co_return false;
    co_await preparation_.prepare_again(std::move(spec), *noted, std::move(station), std::move(system));
    co_return true;
}

// Records that the BMC is about to get something to undo, unless this is recorded already.
asio::awaitable<std::optional<Host>> Waker::note_prepared(Host host) {
    const bool needs_undoing = settings_.spec.boot.method != api::v1alpha1::BootMethod::Disk;
    std::optional<Host> noted = host;
    if (needs_undoing && !host.use.is_prepared) noted = co_await binding_.note_prepared(std::move(host));
    co_return noted;
}

// Records the stage. Other writers of the host's status do not change its use, so the write is repeated.
asio::awaitable<std::optional<Host>> Waker::enter_powering_on(MachineIdentity identity, Host host) {
    constexpr int kTries = 3;
    const auto stage = host.use.stage;
    for (int tries = 0; tries < kTries; ++tries) {
        const auto fresh = co_await binding_.read(host.name);
        const bool is_same = fresh && is_bound_to(*fresh, identity) && fresh->use.stage == stage;
        if (!is_same) co_return std::nullopt;
        auto entered = co_await binding_.enter(*fresh, HostStage::powering_on, kTurningOn);
        if (entered) co_return entered;
    }
    co_return std::nullopt;
}

// Undoes the preparation, and reports whether it is undone. Somebody else just turned the host on, and must
// not boot our image a second time.
asio::awaitable<bool> Waker::undo(Host host, std::shared_ptr<Station> station, System system) {
    if (settings_.spec.boot.method == api::v1alpha1::BootMethod::Disk) co_return true;
    bool is_undone = false;
    std::string outcome = "the preparation of its boot was undone";
    try {
        is_undone = co_await preparation_.undo(host, station, std::move(system));
        if (!is_undone)
            outcome = std::string("the preparation of its boot could not be undone yet: ") + kStillPrepared;
    } catch (const RedfishError& error) {
        outcome = std::string("the preparation of its boot could not be undone yet: ") + error.what();
    }
    fleet_.inventory().announce(
        host, "FoundOn",
        "was turned on by someone else while its boot was prepared: its power is left alone, and " + outcome);
    co_return is_undone;
}

asio::awaitable<std::optional<EnsureResult>> Waker::lock(MachineSpec spec, Host host,
                                                         std::shared_ptr<Station> station, System system) {
    if (!lock_.is_wanted()) co_return std::nullopt;
    const auto name = host.name;
    const auto attempt = co_await lock_.take(spec.identity, host, station, std::move(system));
    switch (attempt.outcome) {
        case LockOutcome::held:
            break;
        case LockOutcome::others:
            co_return co_await leave_to_others(std::move(spec), std::move(host), std::move(station),
                                               attempt.message);
        case LockOutcome::unusable:
            co_return failed(attempt.reason, "host " + name + ": " + attempt.message);
        case LockOutcome::undecided:
            co_return not_ready("host " + name + ": " + attempt.message, kConflictRetry);
    }
    co_return std::nullopt;
}

// Asks the host to turn on. The host records the intention before the request, and its acceptance afterwards.
// After a crash in between it is unknown who turned the host on.
asio::awaitable<EnsureResult> Waker::ask(MachineSpec spec, Host host, std::shared_ptr<Station> station,
                                         System system) {
    const auto name = host.name;
    const bool is_ours = co_await binding_.still_has(spec.identity, name);
    if (!is_ours) co_return not_ready(changed_meanwhile(name), kConflictRetry);
    auto outcome = co_await station->hardware.reset(system, PowerGoal::on);
    if (outcome.answer == ResetAnswer::impossible)
        co_return failed("Unsupported", "turning on " + name + ": " + outcome.words);
    auto& asked = progress_.of(name, spec.identity.claim_uid);
    asked.on_asked_last = clock_.now();
    if (!asked.on_asked) asked.on_asked = asked.on_asked_last;
    if (outcome.answer == ResetAnswer::taken) asked.on_taken = asked.on_asked_last;
    if (outcome.answer == ResetAnswer::lost) asked.on_unanswered = asked.on_asked_last;
    asked.looks = 0;
    asked.refusal = std::move(outcome.words);
    asked.task = std::move(outcome.task);
    auto machine =
        machine_of(spec, host, MachineState::starting, "host " + name + ' ' + kTurningOn + refused_so(asked));
    machine.retry_after = next_look(asked.looks++);
    // If this fails, the next look records it.
    if (asked.on_taken) co_await binding_.note_woken(std::move(spec.identity), name);
    co_return machine;
}

asio::awaitable<void> Waker::switch_on(MachineIdentity identity, Host host, std::shared_ptr<Station> station,
                                       System system) {
    const auto outcome = co_await station->hardware.reset(std::move(system), PowerGoal::on);
    Progress begun;
    begun.on_asked_last = clock_.now();
    progress_.of(host.name, identity.claim_uid) = std::move(begun);
    if (outcome.answer == ResetAnswer::impossible)
        throw ProviderError("turning on " + host.name + ": " + outcome.words);
    if (outcome.answer == ResetAnswer::taken) co_await binding_.note_woken(std::move(identity), host.name);
}

}  // namespace providers::redfish

#include "providers/redfish/power/sleeper.hpp"

#include "api/names.hpp"
#include "base/uuid.hpp"
#include "providers/redfish/power/off_words.hpp"
#include "providers/redfish/power/removal_results.hpp"

namespace providers::redfish {

using api::v1alpha1::BootMethod;
using api::v1alpha1::WipeMode;

namespace {

constexpr base::Duration kSettleRetry = std::chrono::seconds{5};
// After this time a BMC's cached power state includes an accepted On.
constexpr base::Duration kOnIsKnown = std::chrono::minutes{2};
// A power cycle that goes on looks at the host every few seconds.
constexpr base::Duration kCycleEnds = std::chrono::minutes{2};
// Limit of the time that a claim waits for a BMC that refuses to undo its boot.
constexpr base::Duration kUndoPatience = std::chrono::minutes{5};

RemoveResult failed_removal(const RedfishError& error) {
    const auto kind = error.kind();
    if (kind == RedfishErrorKind::unreachable)
        return blocked("HostUnreachable", error.what(), error.complaint.retry_after.value_or(kBusyRetry));
    if (is_permanent(kind)) return blocked(reason_of(kind), error.what(), kPersonRetry);
    return in_progress(error.what(), error.complaint.retry_after.value_or(kBusyRetry));
}

bool can_shut_down(const std::vector<std::string>& resets) {
    return reset_type(PowerGoal::off_gracefully, resets).has_value();
}

// Reports whether a system that is on there may be turned off.
bool is_ours(const Host& host) {
    return host.use.woken || host.is_given;
}

void begin_removal(Progress& progress, const HostUse& use, base::Clock& clock) {
    const bool was_just_asked = progress.on_asked_last && clock.now() - *progress.on_asked_last < kOnIsKnown;
    // An earlier process may have asked, also for a power cycle.
    const bool was_just_woken = use.woken && clock.wall_now() - *use.woken < kOnIsKnown;
    Progress begun;
    begun.on_asked_last = progress.on_asked_last;
    begun.on_taken = progress.on_taken;
    begun.off_seen = progress.off_seen;
    begun.nameless_since = progress.nameless_since;
    begun.has_system = use.stage != HostStage::powering_on;
    begun.may_be_on = use.stage == HostStage::powering_on || was_just_asked || was_just_woken;
    progress = std::move(begun);
}

// Says why a host that its BMC reports as off does not count as off yet.
std::string why_not_off(const std::string& name, const Progress& progress, base::TimePoint now) {
    const bool is_contradicted = progress.has_ready_node && (progress.is_off_unasked || progress.off_asked);
    if (!is_contradicted) return "host " + name + " is off; making sure that it stays so";
    if (!progress.is_off_unasked && !is_off_for_long(progress.off_seen, now))
        return "host " + name + " is off, and its Node is still Ready; waiting until the cluster notices it";
    return "the BMC of host " + name +
           " says that it is off, but its Node is Ready, so the BMC is asked again; restart the BMC if it is "
           "wrong, or delete the Node if the host is off";
}

// Reports whether the host was never asked to run.
bool is_untouched(const Host& host) {
    return host.use.stage == HostStage::reserved;
}

}  // namespace

asio::awaitable<RemoveResult> Sleeper::remove(MachineIdentity identity, MachineRecord record,
                                              InUseCheck in_use) {
    const auto name = record.machine_id.empty() ? record.host : record.machine_id;
    if (name.empty()) co_return Gone{};
    const auto host = co_await binding_.read(name);
    if (!host)
        co_return blocked("HostMissing",
                          "NodeSmithHost " + name +
                              " is gone, so its power state cannot be checked; create it again, or state "
                              "that the machine is gone",
                          kPersonRetry);
    const auto claim_uid = identity.claim_uid;
    Command command{std::move(identity), std::move(in_use)};
    if (!is_bound_to(*host, command.identity)) {
        if (host->use.owner) co_return Gone{};
        co_return co_await look_after_lost(std::move(command), *host);
    }
    if (is_untouched(*host)) {
        auto undoing = co_await undo_preparation(command.identity, *host);
        if (undoing.obstacle) co_return std::move(*undoing.obstacle);
        co_return co_await give_back_untouched(command.identity, name, undoing.is_done);
    }
    eraser_.resume(name, claim_uid, record.task);
    auto result = co_await visit(std::move(command), *host);
    // The host was on, so what was recorded as erased is not. A block would leave the record in the claim,
    // and the next process would believe it.
    const auto* blocked = std::get_if<RemovalBlocked>(&result);
    if (blocked && !record.task.empty() && eraser_.begins_anew(name, claim_uid))
        co_return in_progress(blocked->message, kConflictRetry);
    co_return eraser_.with_record(std::move(result), name, claim_uid);
}

// Undoes the preparation of a boot. We did not turn the host on, but its next boot must not use our image. If
// the BMC does not answer now, this is done when it does. A host that is being deleted is never examined
// again, so its claim waits for its BMC.
asio::awaitable<Sleeper::Undoing> Sleeper::undo_preparation(MachineIdentity identity, Host host) {
    const bool is_prepared = host.use.is_prepared;
    if (!is_prepared && !lock_.is_wanted()) co_return Undoing{};
    // Another operator of the same hosts may have turned it on since.
    if (auto wait = held(fleet_, host)) co_return Undoing{.obstacle = std::move(wait)};
    try {
        const auto station = co_await fleet_.station(host);
        const auto visit = co_await station->bmc.visit();
        const auto system = co_await station->hardware.system();
        // Another cluster's preparation for its claim may look like ours.
        const bool is_theirs = co_await lock_.is_of_others(identity, station, system);
        if (is_theirs) co_return Undoing{};
        const bool is_it = base::same_uuid(system.uuid, host.system_uuid);
        bool is_undone = is_it;
        if (is_it && is_prepared) is_undone = co_await preparation_.undo(host, station, system);
        // A process may have died between taking the lock and the next step.
        if (is_it && system.power == PowerState::off)
            co_await lock_.release(std::move(identity), host, station);
        co_return Undoing{.is_done = is_undone};
    } catch (const RedfishError& error) {
        if (host.is_being_deleted) co_return Undoing{.obstacle = failed_removal(error)};
    } catch (const std::invalid_argument&) {
        co_return Undoing{};  // without a valid address nothing was ever changed
    }
    co_return Undoing{};
}

asio::awaitable<RemoveResult> Sleeper::give_back_untouched(MachineIdentity identity, std::string name,
                                                           bool is_undone) {
    const auto host = co_await binding_.read(name);
    const bool is_still = host && is_bound_to(*host, identity) && is_untouched(*host);
    if (!is_still) co_return in_progress(changed_meanwhile(name), kConflictRetry);
    co_return co_await give_back(*host, is_undone);
}

// Removes a machine whose host has no owner: it was given back, or never taken. The host may still run what
// the claim started, if the hosts' objects were restored from an older backup. Then the recorded power state
// is as old.
asio::awaitable<RemoveResult> Sleeper::look_after_lost(Command command, Host host) {
    if (!base::same_uuid(command.identity.system_uuid, host.system_uuid)) co_return Gone{};
    // The host was left to somebody who had turned it on. Nothing of this cluster ever ran there.
    const bool never_joined = command.in_use && !co_await command.in_use();
    if (never_joined) co_return Gone{};
    try {
        const auto station = co_await fleet_.station(host);
        const auto visit = co_await station->bmc.visit();
        const auto system = co_await station->hardware.system();
        const auto claim_uid = command.identity.claim_uid;
        const auto now = clock_.now();
        const bool is_off = system.power == PowerState::off;
        if (is_off && !is_off_for_long(lost_off_.try_emplace(claim_uid, now).first->second, now))
            co_return in_progress("host " + host.name + " is off; making sure that it stays so",
                                  kSettleRetry);
        lost_off_.erase(claim_uid);
        if (is_off) co_return Gone{};
        const bool is_on = system.power == PowerState::on || system.power == PowerState::powering_on;
        if (!is_on)
            co_return in_progress("host " + host.name + " does not show whether it is on or off", kBusyRetry);
        // It was off and given back; only the claim did not record it. Another cluster turned it on.
        const bool is_theirs = co_await lock_.is_of_others(command.identity, station, system);
        if (is_theirs) co_return Gone{};
    } catch (const RedfishError& error) {
        co_return failed_removal(error);
    } catch (const std::invalid_argument& error) {
        co_return blocked("InvalidHost", error.what(), kPersonRetry);
    }
    co_return blocked("OwnershipMismatch",
                      "host " + host.name +
                          " is on but not reserved for any claim: it is left alone; turn it off, or state "
                          "that the machine is gone",
                      kPersonRetry);
}

asio::awaitable<RemoveResult> Sleeper::visit(Command command, Host host) {
    try {
        const auto station = co_await fleet_.station(host);
        const auto turn = co_await station->bmc.visit();
        co_return co_await step(std::move(command), std::move(host), station);
    } catch (const RedfishError& error) {
        co_return failed_removal(error);
    } catch (const std::invalid_argument& error) {
        co_return blocked("InvalidHost", error.what(), kPersonRetry);
    }
}

asio::awaitable<RemoveResult> Sleeper::step(Command command, Host host, std::shared_ptr<Station> station) {
    const auto name = host.name;
    const auto& identity = command.identity;
    const auto system = co_await station->hardware.system();
    // A missing UUID is no mismatch.
    if (system.uuid.empty())
        co_return in_progress(
            "the BMC of host " + name +
                " reports no system UUID at the moment: nothing is turned off until it does",
            kBusyRetry);
    if (!base::same_uuid(system.uuid, identity.system_uuid)) {
        co_return blocked("OwnershipMismatch",
                          "the BMC of host " + name + " reports system UUID " + system.uuid +
                              ", but the claim's machine has " + identity.system_uuid +
                              ": nothing is turned off; check cabling, spec.bmc.address and systemID of the "
                              "host, or turn the machine off and state that it is gone",
                          kPersonRetry);
    }
    if (auto wait = held(fleet_, host)) co_return std::move(*wait);
    const auto now = clock_.now();
    auto& progress = progress_.of(name, identity.claim_uid);
    const bool begins = host.use.stage != HostStage::powering_off && host.use.stage != HostStage::wiping;
    if (begins) begin_removal(progress, host.use, clock_);
    const bool is_off = system.power == PowerState::off;
    if (!is_off) {
        progress.off_seen.reset();
    } else if (!progress.off_seen) {
        progress.off_seen = now;
    }
    const bool is_on = system.power == PowerState::on || system.power == PowerState::powering_on;
    // Whoever turned it on may have written on drives that were erased before.
    if (is_on && host.use.stage == HostStage::wiping) eraser_.begin_anew(name, identity.claim_uid);
    // The host may not yet show that the BMC accepted the request. Later it does, until the host was off.
    const bool is_woken = host.use.stage == HostStage::powering_on && progress.on_taken.has_value();
    if (is_on && !is_woken && !is_ours(host)) {
        co_return co_await leave_on(std::move(command), std::move(host), std::move(station), system);
    }
    const bool is_unasked = is_off && !progress.off_asked && !progress.force_asked;
    // A host whose drives are being erased was off already.
    const bool would_end = is_off && is_surely_off(progress, now) && !progress.force_asked &&
                           host.use.stage != HostStage::wiping;
    const bool is_doubtful =
        progress.may_be_on || !progress.has_system || is_unasked || progress.is_off_unasked || would_end;
    progress.has_ready_node = is_doubtful && co_await fleet_.inventory().has_ready_node(host);
    if (!is_off) progress.is_off_unasked = false;
    if (is_unasked && (begins || progress.has_ready_node)) progress.is_off_unasked = true;
    if (progress.has_ready_node && !progress.has_system) {
        // It came up after all, in spite of earlier requests.
        progress.has_system = true;
        progress.force_asked.reset();
        progress.force_asked_last.reset();
    }
    const bool is_sure = is_off && is_surely_off(progress, now) && !progress.has_ready_node;
    const auto retired = co_await binding_.retire(host, is_sure, is_woken);
    if (!retired) co_return in_progress(changed_meanwhile(name), kConflictRetry);
    co_return co_await turn_off(std::move(command), *retired, std::move(station), system);
}

asio::awaitable<RemoveResult> Sleeper::leave_on(Command command, Host host, std::shared_ptr<Station> station,
                                                System system) {
    const auto stage = host.use.stage;
    const std::string what = "host " + host.name +
                             " is on, but nothing shows that it was turned on for claim " +
                             command.identity.claim_name;
    const bool wipes = stage == HostStage::wiping;
    // A process died between the release of the lock and the end of its use of the host.
    const bool is_theirs =
        wipes && co_await lock_.is_of_others(command.identity, std::move(station), std::move(system));
    if (wipes && !is_theirs)
        co_return blocked("InUseByOthers", what + ", while its drives were being erased: turn it off",
                          kPersonRetry);
    // Once it was off, the owner is the one who turned it on again.
    if (is_theirs || stage == HostStage::powering_off) co_return co_await give_back(std::move(host), false);
    if (!command.in_use)
        co_return blocked("InUseByOthers",
                          what + ": it is left alone; turn it off, annotate it with " +
                              std::string(api::annotations::kAdopt) +
                              "=true to have it turned off, or state that the machine is gone",
                          kBusyRetry);
    const bool has_joined = co_await command.in_use();
    if (has_joined) co_return in_progress(kInUseAfterAll, kConflictRetry);
    co_return co_await give_back(std::move(host), false);
}

asio::awaitable<void> Sleeper::press(OffStep step, Command command, Host host,
                                     std::shared_ptr<Station> station, System system) {
    auto& progress = progress_.of(host.name, command.identity.claim_uid);
    const bool is_gentle = step == OffStep::ask_gracefully;
    if (!is_gentle && !progress.is_announced) {
        fleet_.inventory().announce(host, "CuttingPower",
                                    "is switched off by force: " + why_by_force(system, progress, settings_));
        progress.is_announced = true;
    }
    const auto goal = is_gentle ? PowerGoal::off_gracefully : PowerGoal::off_by_force;
    auto outcome = co_await station->hardware.reset(std::move(system), goal);
    const auto now = clock_.now();
    progress.looks = 0;
    progress.refusal = std::move(outcome.words);
    progress.task = std::move(outcome.task);
    if (is_gentle) {
        progress.off_asked_last = now;
        if (!progress.off_asked) progress.off_asked = now;
        if (outcome.answer == ResetAnswer::taken) progress.off_taken = now;
        progress.asks_off_again = outcome.answer != ResetAnswer::taken;
        progress.cannot_shut_down = outcome.answer == ResetAnswer::impossible;
        ++progress.off_requests;
    } else {
        progress.force_asked_last = now;
        if (!progress.force_asked) progress.force_asked = now;
    }
}

// Reports whether the task is running, so that it is not started twice. A failed task counts as a refusal.
asio::awaitable<bool> Sleeper::is_task_under_way(std::shared_ptr<Station> station, Progress& progress) {
    if (progress.task.empty()) co_return false;
    const auto outcome = co_await station->hardware.reset_task(progress.task);
    if (outcome && outcome->progress == TaskProgress::running) co_return true;
    progress.task.clear();
    if (outcome && outcome->progress == TaskProgress::failed) {
        progress.refusal = outcome->words;
        progress.asks_off_again = true;
    }
    co_return false;
}

asio::awaitable<RemoveResult> Sleeper::turn_off(Command command, Host host, std::shared_ptr<Station> station,
                                                System system) {
    const auto name = host.name;
    auto& progress = progress_.of(name, command.identity.claim_uid);
    const auto limits = power_limits(settings_);
    const auto resets = co_await station->hardware.reset_types(system);
    const OffMeans means{can_shut_down(resets), is_ours(host)};
    const bool works = co_await is_task_under_way(station, progress);
    auto step = next_off_step(system, progress, means, limits, clock_.now());
    if (works && step == OffStep::ask_gracefully) step = OffStep::wait;
    if (step == OffStep::done)
        co_return co_await tidy(command.identity, std::move(host), std::move(station), system);
    const bool ends_it = step != OffStep::wait;
    const bool is_used = ends_it && command.in_use && co_await command.in_use();
    if (is_used) co_return in_progress(kInUseAfterAll, kConflictRetry);
    const bool is_lost = ends_it && !co_await binding_.still_has(command.identity, name);
    if (is_lost) co_return in_progress(changed_meanwhile(name), kConflictRetry);
    // Another operator may have shown itself during these questions.
    auto wait = ends_it ? held(fleet_, host) : std::nullopt;
    if (wait) co_return std::move(*wait);
    if (ends_it) co_await press(step, std::move(command), host, std::move(station), system);
    if (system.power == PowerState::off)
        co_return in_progress(why_not_off(name, progress, clock_.now()), kSettleRetry);
    const bool never_cuts = limits.mode == api::v1alpha1::PowerOffMode::GracefulOnly;
    if (never_cuts && !means.can_shut_down)
        co_return blocked("Unsupported",
                          "the BMC of host " + name +
                              " offers no GracefulShutdown and spec.redfish.powerOff.mode "
                              "is GracefulOnly: turn the host off, or change the mode",
                          kPersonRetry);
    co_return in_progress("host " + name + how_it_goes(system, progress, limits, clock_.now()),
                          next_look(progress.looks++));
}

asio::awaitable<bool> Sleeper::switch_off(Command command, Host host, std::shared_ptr<Station> station,
                                          System system) {
    const auto name = host.name;
    auto& progress = progress_.of(name, command.identity.claim_uid);
    if (system.power == PowerState::off) co_return true;
    const auto hold = fleet_.why_not_destroy();
    if (hold.needs_person) throw ProviderError("turning off host " + name + ": " + hold.why);
    if (!hold.why.empty()) co_return false;
    // The requests of a power cycle that was given up say nothing about what runs there now.
    const bool begins = !progress.cycled || clock_.now() - *progress.cycled >= kCycleEnds;
    if (begins) progress = Progress{};
    progress.cycled = clock_.now();
    if (!is_ours(host))
        throw ProviderError("host " + name + " is on, but nothing shows that it was turned on for claim " +
                            command.identity.claim_name);
    progress.has_system = true;
    const auto resets = co_await station->hardware.reset_types(system);
    const OffMeans means{can_shut_down(resets), true};
    const auto step = next_off_step(system, progress, means, power_limits(settings_), clock_.now());
    if (step == OffStep::wait || step == OffStep::done) co_return false;
    const bool is_used = command.in_use && co_await command.in_use();
    if (is_used) co_return false;
    const bool is_bound = co_await binding_.still_has(command.identity, name);
    if (!is_bound)
        throw ProviderError("host " + name + " is not reserved for claim " + command.identity.claim_name);
    if (held(fleet_, host)) co_return false;
    co_await press(step, std::move(command), std::move(host), std::move(station), std::move(system));
    co_return false;
}

// An earlier process may have died between the release of the lock and the end of its use of the host.
// Another cluster may use the host since, or take it at any moment.
asio::awaitable<std::optional<RemoveResult>> Sleeper::keep_locked(MachineIdentity identity, Host host,
                                                                  std::shared_ptr<Station> station,
                                                                  System system) {
    if (!lock_.is_wanted()) co_return std::nullopt;
    const bool is_theirs = co_await lock_.is_of_others(identity, station, system);
    if (is_theirs) co_return co_await give_back(std::move(host), false);
    if (lock_.is_refused(*station)) co_return std::nullopt;
    const auto lock = co_await lock_.take(std::move(identity), host, std::move(station), std::move(system));
    const bool is_open = lock.outcome == LockOutcome::undecided || lock.outcome == LockOutcome::others;
    if (is_open) co_return in_progress("host " + host.name + ": " + lock.message, kConflictRetry);
    co_return std::nullopt;
}

// Undoes the boot of a host that is off. If its BMC refuses it for minutes, later looks go on with it, as
// for any other host that is left prepared. A host that is being deleted has no later look.
asio::awaitable<void> Sleeper::undo_boot(MachineIdentity identity, Host host,
                                         std::shared_ptr<Station> station, System system) {
    const auto& progress = progress_.of(host.name, identity.claim_uid);
    const auto now = clock_.now();
    const auto since = progress.undone_in_vain.value_or(now);
    bool is_undone = false;
    try {
        const bool is_clear = co_await station->hardware.boot().clear_boot(system);
        const bool is_rest_clear = co_await preparation_.undo(host, station, system);
        is_undone = is_clear && is_rest_clear;
    } catch (const RedfishError& error) {
        progress_.of(host.name, identity.claim_uid).undone_in_vain = since;
        const bool is_for_person = host.is_being_deleted || is_permanent(error.kind());
        if (is_for_person || clock_.now() - since < kUndoPatience) throw;
    }
    progress_.of(host.name, identity.claim_uid).is_undone = is_undone;
}

// Does the same with the mark of the lock.
asio::awaitable<void> Sleeper::end_lock(MachineIdentity identity, Host host,
                                        std::shared_ptr<Station> station) {
    const auto now = clock_.now();
    const auto since = progress_.of(host.name, identity.claim_uid).locked_in_vain.value_or(now);
    try {
        co_await lock_.release(identity, host, std::move(station));
    } catch (const RedfishError& error) {
        progress_.of(host.name, identity.claim_uid).locked_in_vain = since;
        const bool is_for_person = host.is_being_deleted || is_permanent(error.kind());
        if (is_for_person || clock_.now() - since < kUndoPatience) throw;
        lock_.report_left(host, error.what());
    }
}

asio::awaitable<RemoveResult> Sleeper::tidy(MachineIdentity identity, Host host,
                                            std::shared_ptr<Station> station, System system) {
    const auto& spec = settings_.spec;
    auto obstacle = co_await keep_locked(identity, host, station, system);
    if (obstacle) co_return std::move(*obstacle);
    // What a BMC keeps is tried again by later looks. The erasure of drives looks at the host every few
    // seconds.
    const bool is_tried = progress_.of(host.name, identity.claim_uid).is_undone.has_value();
    if (spec.boot.method != BootMethod::Disk && !is_tried)
        co_await undo_boot(identity, host, station, system);
    if (spec.powerOff.wipe == WipeMode::SecureErase) {
        const auto wiping = co_await binding_.enter(host, HostStage::wiping, "its drives are being erased");
        if (!wiping) co_return in_progress(changed_meanwhile(host.name), kConflictRetry);
        host = *wiping;
        auto outcome = co_await eraser_.wipe(host, identity.claim_uid, station, system);
        if (outcome) co_return std::move(*outcome);
    }
    // This comes last, as others may turn on a host that they see free.
    co_await end_lock(identity, host, std::move(station));
    // The release takes seconds, in which others may write the host's object.
    const auto fresh = co_await binding_.read(host.name);
    if (!fresh || !is_bound_to(*fresh, identity))
        co_return in_progress(changed_meanwhile(host.name), kConflictRetry);
    const bool is_undone = progress_.of(host.name, identity.claim_uid).is_undone.value_or(true);
    co_return co_await give_back(*fresh, is_undone);
}

asio::awaitable<RemoveResult> Sleeper::give_back(Host host, bool is_undone) {
    const auto name = host.name;
    const bool done = co_await binding_.give_back(std::move(host), is_undone);
    if (!done) co_return in_progress(changed_meanwhile(name), kConflictRetry);
    progress_.forget(name);
    eraser_.forget(name);
    co_return Gone{};
}

// Removes the lock. If it fails now, a later look at the host, once it is off, removes the mark. A host that
// is being deleted has no later look.
asio::awaitable<void> Sleeper::unlock(MachineIdentity identity, Host host) {
    if (!lock_.is_wanted()) co_return;
    try {
        const auto station = co_await fleet_.station(host);
        const auto visit = co_await station->bmc.visit();
        const auto system = co_await station->hardware.system();
        if (base::same_uuid(system.uuid, identity.system_uuid))
            co_await lock_.release(std::move(identity), host, station);
    } catch (const RedfishError& error) {
        if (host.is_being_deleted) lock_.report_left(host, error.what());
    } catch (const std::invalid_argument&) {
        co_return;
    }
}

asio::awaitable<bool> Sleeper::release(MachineIdentity identity, MachineRecord record) {
    const auto host = co_await binding_.read(record.machine_id);
    if (!host || !is_bound_to(*host, identity)) co_return true;
    const auto name = host->name;
    const auto hold = fleet_.why_not_destroy();
    const bool is_held = !hold.why.empty();
    // Nothing can be done to a host whose BMC is dead. A person says that its machine is gone, and the claim
    // need not wait for a sign of another operator, which may never come.
    if (is_held && host->is_reachable) throw ProviderError("releasing host " + name + ": " + hold.why);
    if (!is_held) co_await unlock(std::move(identity), *host);
    // The system that runs there may need its image until the host is off. Then an ordinary look removes it.
    const bool has_served = host->use.stage == HostStage::in_use;
    const bool done = co_await binding_.give_back(*host, has_served);
    if (done) progress_.forget(name);
    co_return done;
}

}  // namespace providers::redfish

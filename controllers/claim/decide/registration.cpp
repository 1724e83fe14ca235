#include "controllers/claim/decide/registration.hpp"

#include <algorithm>
#include <chrono>

#include "controllers/claim/decide/boot_evidence.hpp"
#include "controllers/claim/decide/deadline.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/claim/facts/local_volumes.hpp"
#include "controllers/claim/facts/node_changes.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/claim/facts/undeclared_taints.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/services/drain.hpp"
#include "providers/foreign/shown_text.hpp"
#include "scheduling/pods/tolerations.hpp"

namespace controllers::claim {

using Permission = DisruptionReports::Permission;

namespace {

const api::v1alpha1::ScaleUp& scale_up(const Situation& s) {
    static const api::v1alpha1::ScaleUp kDefaults;
    return s.pool ? s.pool->spec.scaleUp : kDefaults;
}

Decision give_up(const Situation& s, std::string_view reason, std::string message) {
    Decision decision{Step::nothing, s.claim.status, std::nullopt};
    Failure failure{std::string(reason), std::move(message), ""};
    fail_attempt(decision.status, failure, scale_up(s).maxLaunchAttempts, s.now);
    return decision;
}

// Returns a startup taint of pool or claim that the Node still has.
std::string remaining_startup_taint(const Situation& s) {
    auto wanted = s.claim.spec.startupTaints;
    if (s.pool) {
        const auto& of_pool = s.pool->spec.machineTemplate.startupTaints;
        wanted.insert(wanted.end(), of_pool.begin(), of_pool.end());
    }
    for (const auto& taint : wanted) {
        if (api::find_taint(s.node->spec.taints, taint.key, taint.effect)) return taint.key;
    }
    return {};
}

std::string missing_resource(const Situation& s) {
    auto wanted = s.claim.spec.extendedResources;
    if (s.pool) {
        for (const auto& [name, amount] : s.pool->spec.machineTemplate.extendedResources) {
            wanted.try_emplace(name, amount);
        }
    }
    for (const auto& [name, amount] : wanted) {
        auto found = s.node->status.allocatable.find(name);
        bool there = found != s.node->status.allocatable.end() && found->second >= amount;
        if (!there && !amount.is_zero()) return name;
    }
    return {};
}

// Reports whether the kubelet was started with --cloud-provider=external.
// https://kubernetes.io/docs/tasks/administer-cluster/running-cloud-controller/
bool waits_for_cloud_provider(const api::Node& node) {
    return api::find_taint(node.spec.taints, api::taints::kUninitialized, api::taints::kNoSchedule) !=
           nullptr;
}

// Returns why the Node cannot run pods yet; nullopt: it can.
std::optional<Hold> uninitialized(const Situation& s) {
    if (waits_for_cloud_provider(*s.node)) {
        return Hold{std::string(reasons::kCloudProviderAwaited),
                    "the Node has the taint " + std::string(api::taints::kUninitialized) +
                        ", which the cloud controller manager removes once it has found the Node's machine"};
    }
    // Ready becomes true a moment before the taint is removed. No pod can be bound so soon, and its
    // pods must not get a second machine.
    const auto passing = std::ranges::find_if(s.node->spec.taints, [](const api::Taint& taint) {
        return scheduling::passes_by_itself(taint) && taint.key != api::taints::kUnregistered;
    });
    if (passing != s.node->spec.taints.end()) {
        return Hold{std::string(reasons::kNodeNotReady),
                    "the Node still has the taint " + passing->key + ", which the cluster will remove"};
    }
    if (!api::is_true(s.node->status.conditions, conditions::kReady)) {
        return Hold{std::string(reasons::kNodeNotReady), "the Node is not Ready"};
    }
    auto taint = remaining_startup_taint(s);
    if (!taint.empty()) {
        return Hold{std::string(reasons::kStartupTaintsPresent),
                    "the Node still has the startup taint " + taint};
    }
    auto resource = missing_resource(s);
    if (!resource.empty()) {
        return Hold{std::string(reasons::kResourcesMissing),
                    "the Node does not offer enough " + resource + " yet"};
    }
    if (is_closed(*s.node))
        return Hold{std::string(reasons::kNodeNotReady), "the operator is about to let pods onto the Node"};
    return std::nullopt;
}

// Follows the Node's state. Initialized never becomes False again.
void follow_node(ClaimStatus& status, const Situation& s) {
    auto hold = uninitialized(s);
    if (!api::is_true(status.conditions, conditions::kInitialized)) {
        if (hold) {
            set(status, conditions::kInitialized, ConditionStatus::False, hold->reason, hold->message, s.now);
        } else {
            set(status, conditions::kInitialized, ConditionStatus::True, reasons::kInitialized,
                "the Node is Ready with all its resources", s.now);
        }
    }
    status.nodeName = s.node->metadata.name;
    note_resources(status, *s.node);
}

// Restores what others removed from the Node or overwrote, once it is due.
void keep_labels(const Situation& s, Decision& decision) {
    // The kubelet recreated the Node.
    if (is_closed(*s.node)) {
        decision.step = Step::register_node;
        return;
    }
    auto next = upkeep(s.claim.status.contestedLabels, s.deviations, s.now);
    decision.status.contestedLabels = std::move(next.remembered);
    if (!next.due.empty()) decision.step = Step::put_back;
    if (next.look_again)
        decision.look_again =
            decision.look_again ? std::min(*decision.look_again, *next.look_again) : next.look_again;
}

}  // namespace

Decision decide_registration(const Situation& s) {
    const auto& status = s.claim.status;
    if (s.node) return {Step::register_node, status, std::nullopt};
    const bool is_leftover = s.namesake && s.namesake_is_leftover;
    if (is_leftover && !s.namesake->metadata.deletionTimestamp)
        return {Step::delete_node, status, std::nullopt};
    // Another machine would not get a certificate either.
    if (!s.certificate.refusal.empty()) {
        Decision decision{Step::nothing, status, std::nullopt};
        set(decision.status, conditions::kRegistered, ConditionStatus::False, reasons::kRequestRefused,
            s.certificate.refusal, s.now);
        return decision;
    }
    auto timeout = scale_up(s).registrationTimeout;
    const auto launched = since(status, conditions::kLaunched).value_or(s.now);
    const auto end = deadline(s, std::max(launched, s.certificate.ended.value_or(launched)), timeout);
    if (end <= s.now) {
        return give_up(s, reasons::kRegistrationTimeout, never_joined_text(s, timeout));
    }
    Decision decision{Step::nothing, status, end};
    if (!s.node_refusal.empty()) {
        set(decision.status, conditions::kRegistered, ConditionStatus::False, reasons::kNodeIdentityMismatch,
            s.node_refusal, s.now);
    } else if (s.namesake) {
        set(decision.status, conditions::kRegistered, ConditionStatus::False, reasons::kNodeIdentityMismatch,
            "Node " + s.namesake->metadata.name + " has the claim's name but system UUID " +
                providers::foreign::shown(s.namesake->status.nodeInfo.systemUUID) + " instead of " +
                status.systemUUID + ": it is left alone",
            s.now);
    } else {
        set(decision.status, conditions::kRegistered, ConditionStatus::False, reasons::kNodeNotFound,
            awaited_text(s), s.now);
    }
    return decision;
}

namespace {

// Acts after the drain. It keeps the machine for volumes on its disk. Once a person gave these up,
// the pods that use them are evicted.
void keep_or_let_go(const Situation& s, ClaimStatus& status) {
    const auto kind = *disruption::under_way(s.claim);
    if (!s.held_volumes.empty()) {
        if (disruption::keeps_machine_for_volumes(kind))
            keep_for_volumes(status, s, std::string(disruption::name_of(kind)));
    } else if (is_kept_for_volumes(s.claim)) {
        set(status, conditions::kDrained, ConditionStatus::False, reasons::kDraining,
            "the volumes for which the machine was kept are given up", s.now);
    }
}

// Decides the next step of a removal. The claim is deleted when its node is drained.
Step leave(const Situation& s, ClaimStatus& status) {
    if (!disruption::has_leaving_taint(*s.node)) return Step::taint_node;
    const auto* drained = api::find_condition(status.conditions, conditions::kDrained);
    if (!drained && s.permission == Permission::leave_empty)
        set(status, conditions::kDrained, ConditionStatus::True, reasons::kDrained,
            DrainProgress{.done = true}.message(), s.now);
    if (!drained && s.permission == Permission::drain)
        set(status, conditions::kDrained, ConditionStatus::False, reasons::kDraining,
            "the pods of the node are being evicted", s.now);
    if (drained && drained->status == ConditionStatus::True) keep_or_let_go(s, status);
    return api::is_false(status.conditions, conditions::kDrained) ? Step::drain : Step::nothing;
}

// Carries out what was decided about a node in service: condition Disrupted or a permitted power cycle.
// Reverts what was undone. Returns the step that this needs, or `nothing`.
Step carry_out_disruption(const Situation& s, ClaimStatus& status) {
    if (disruption::under_way(s.claim)) return leave(s, status);
    // The disruption was undone, or a process died between the taint and its purpose.
    api::remove_condition(status.conditions, conditions::kDrained);
    if (is_true(s.claim, conditions::kInitialized))
        api::remove_condition(status.conditions, conditions::kKeptForVolumes);
    if (disruption::has_leaving_taint(*s.node)) return Step::untaint_node;
    if (s.permission == Permission::begin_power_cycle && !disruption::is_power_cycling(s.claim))
        set(status, conditions::kPowerCycled, ConditionStatus::False, kSwitchingOff,
            "its machine is switched off and on again before it is replaced", s.now);
    const bool may_switch =
        s.permission == Permission::switch_off_and_on || s.permission == Permission::switch_on;
    return may_switch && disruption::is_power_cycling(s.claim) ? Step::switch_power : Step::nothing;
}

// A Node that is not Ready for less time often recovers by itself.
constexpr std::chrono::minutes kLookAfter{1};

// Reports whether the mode forbids actions, or is unknown.
bool only_watches(const std::optional<Hold>& hold) {
    return hold && (hold->reason == reasons::kPaused || hold->reason == reasons::kObserve ||
                    hold->reason == reasons::kUnknownValue || hold->reason == reasons::kNotSelected);
}

// Requests a look at the machine of a Node that is not Ready, if no other step is due.
void watch_power(const Situation& s, Decision& decision) {
    const auto since = not_ready_since(*s.node, s.claim, s.now);
    if (!since) api::remove_condition(decision.status.conditions, conditions::kPoweredOff);
    const bool has_other_work = decision.step != Step::nothing || disruption::under_way(s.claim) ||
                                disruption::is_power_cycling(s.claim);
    if (!since || only_watches(s.launch_hold) || has_other_work) return;
    const auto due = later(*since, kLookAfter);
    if (due <= s.now)
        decision.step = Step::start_machine;
    else
        decision.look_again = decision.look_again ? std::min(*decision.look_again, due) : due;
}

}  // namespace

Decision decide_service(const Situation& s) {
    Decision decision{Step::nothing, s.claim.status, std::nullopt};
    // The Node is neither gone nor proven to be the claim's, so nothing is done yet.
    if (!s.node && !s.node_refusal.empty()) return decision;
    if (!s.node) {
        decision.step = Step::confirm_node_gone;
        return decision;
    }
    follow_node(decision.status, s);
    if (!api::is_true(decision.status.conditions, conditions::kInitialized)) {
        auto timeout = scale_up(s).initializationTimeout;
        const auto end = deadline(s, since(s.claim.status, conditions::kRegistered).value_or(s.now), timeout);
        if (end <= s.now && !s.held_volumes.empty()) {
            keep_for_volumes(decision.status, s, "it was not initialized within " + timeout.str());
        } else if (end <= s.now) {
            const auto* why = api::find_condition(decision.status.conditions, conditions::kInitialized);
            return give_up(s, reasons::kInitializationTimeout,
                           "not initialized within " + timeout.str() + ": " + why->message);
        }
        if (s.now < end) decision.look_again = end;
    }
    if (const auto end = note_taints(decision.status, {s.claim, *s.node, s.pool, s.host}, s.now))
        decision.look_again = end;
    decision.step = carry_out_disruption(s, decision.status);
    if (decision.step != Step::nothing) return decision;
    keep_labels(s, decision);
    if (decision.step == Step::nothing && !s.claim.status.bootstrapTokenID.empty())
        decision.step = Step::discard_boot_data;
    watch_power(s, decision);
    return decision;
}

}  // namespace controllers::claim

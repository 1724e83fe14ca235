#include "controllers/provisioning/gates.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "controllers/claim/facts/boot_rights.hpp"
#include "controllers/claim/facts/label_rules.hpp"
#include "controllers/state/acceptance.hpp"
#include "controllers/state/control_plane_status.hpp"

namespace controllers::provisioning {

using api::v1alpha1::Mode;

namespace {

LaunchGate closed(std::string_view reason, std::string message,
                  std::optional<api::Time> opens_at = std::nullopt) {
    LaunchGate gate;
    gate.reason = reason;
    gate.message = std::move(message);
    gate.opens_at = opens_at;
    return gate;
}

LaunchGate for_a_while(LaunchGate gate) {
    gate.for_a_while = true;
    return gate;
}

// Returns a gate that the user's settings close.
std::optional<LaunchGate> closed_by_wish(const GateFacts& facts) {
    if (facts.pool.metadata.deletionTimestamp) return closed(reasons::kDeleting, "is being deleted");
    for (const auto* metadata : {&facts.pool.metadata, facts.manager ? &facts.manager->metadata : nullptr,
                                 facts.provider ? &facts.provider->metadata : nullptr})
        if (metadata && !is_understood(*metadata))
            return closed(reasons::kUnknownValue, metadata->name + ": " + why_not_understood(*metadata));
    if (facts.label_conflict)
        return closed(reasons::kLabelConflict,
                      "has the same label value as " + api::key_of(*facts.label_conflict).str());
    if (const auto problem = label_problem(facts.pool); !problem.reason.empty())
        return closed(problem.reason, problem.message);
    if (!facts.manager)
        return closed(reasons::kNotSelected, "is listed by no NodeSmithControlPlane of namespace " +
                                                 facts.pool.metadata.namespace_ +
                                                 ": add it to spec.pools of one");
    if (facts.manager->spec.mode == Mode::Paused)
        return closed(reasons::kPaused, "control plane " + facts.manager->metadata.name +
                                            " is paused: set its spec.mode to Active");
    return std::nullopt;
}

std::optional<LaunchGate> closed_by_state(const GateFacts& facts) {
    if (is_unhealthy(*facts.manager, facts.manager_counts))
        return closed(reasons::kTooManyUnready, "too many nodes are not Ready");
    if (!facts.provider)
        return closed(reasons::kProviderNotFound,
                      "its provider " + facts.pool.spec.providerRef + " is missing");
    const auto* ready = api::find_condition(facts.provider->status.conditions, conditions::kReady);
    if (!ready || ready->status != ConditionStatus::True)
        return closed(reasons::kProviderNotReady,
                      "its provider " + facts.pool.spec.providerRef + " is not Ready: " +
                          (ready ? ready->message : std::string("it was not examined yet")));
    const auto missing = missing_for_boot(*facts.provider, bootstrap_of(facts.pool, facts.manager));
    if (!missing.empty())
        return closed(reasons::kMissingPrivileges,
                      "its provider " + facts.pool.spec.providerRef + ": " + missing);
    return std::nullopt;
}

// Reports whether every size is refused. Sizes without a known refusal are still tried. Machines without
// stated sizes have too many sizes to try each.
bool are_all_sizes_refused(const GateFacts& facts) {
    if (facts.refusals.empty()) return false;
    return std::ranges::all_of(facts.pool.spec.machineTemplate.sizes, [&facts](const auto& stated) {
        const api::v1alpha1::Size size{stated.cpuCores, stated.memoryMiB};
        return std::ranges::find(facts.refusals, size, &ClaimRefusal::size) != facts.refusals.end();
    });
}

std::optional<LaunchGate> closed_by_time(const GateFacts& facts, api::Time now) {
    if (are_all_sizes_refused(facts))
        return closed(reasons::kClaimsRefused, refusal_text(facts.refusals.front()), facts.refused_until);
    if (facts.unknown_until && now < *facts.unknown_until)
        return closed("ReservationUnsettled", "machines that were reserved for it are not visible yet",
                      facts.unknown_until);
    // Each further machine would run in vain beside the first.
    if (!facts.without_certificate.empty())
        return closed(reasons::kRequestRefused,
                      "its next machine would not get a certificate either: " + facts.without_certificate);
    const auto& status = facts.pool.status;
    if (status.nextRetryTime && now < *status.nextRetryTime)
        return closed(
            reasons::kBackingOff,
            base::counted(status.consecutiveFailures, "claim") + " failed in a row" + facts.last_failure,
            status.nextRetryTime);
    if (pauses_after_losses(status, now))
        return closed(reasons::kBackingOff, losses_text(*status.losses), status.losses->nextRetryTime);
    if (const auto opens = scale_up_opens(facts.pool, status); opens && now < *opens)
        return closed("StabilizationWindow", "scaled up less than scaleUp.stabilizationWindow ago", *opens);
    return std::nullopt;
}

// Returns a gate that waits for the claim that shows whether the obstacle is gone.
LaunchGate closed_by_trial(const GateFacts& facts) {
    return closed(kOneAtATime, trial_text(facts.pool, facts.trial), facts.trial.ends);
}

}  // namespace

std::string refusal_text(const ClaimRefusal& refusal) {
    return "the API server refuses its claims for machines of " +
           base::counted(refusal.size.cpuCores, "CPU") + " and " + std::to_string(refusal.size.memoryMiB) +
           " MiB: " + refusal.message;
}

LaunchGate gate_of(const GateFacts& facts, api::Time now) {
    if (auto gate = closed_by_wish(facts)) return *gate;
    if (auto gate = closed_by_state(facts)) return *gate;
    if (auto gate = closed_by_time(facts, now)) return for_a_while(std::move(*gate));
    LaunchGate gate;
    gate.open = true;
    const auto& scale_up = facts.pool.spec.scaleUp;
    if (scale_up.batchSize > 0)
        gate.most_claims = std::min<std::int64_t>(gate.most_claims, scale_up.batchSize);
    if (scale_up.maxConcurrent > 0) {
        gate.most_claims = std::min(gate.most_claims, scale_up.maxConcurrent - facts.counts.pending_nodes);
        if (gate.most_claims <= 0)
            return for_a_while(closed("MaxConcurrent", base::counted(facts.counts.pending_nodes, "node") +
                                                           " " + base::is_or_are(facts.counts.pending_nodes) +
                                                           " already being created (scaleUp.maxConcurrent)"));
    }
    if (facts.probe.is_needed) {
        if (!facts.probe.claim.empty())
            return for_a_while(closed(kOneAtATime, probe_text(facts.probe), facts.probe.proven_at));
        gate.most_claims = std::min<std::int64_t>(gate.most_claims, 1);
    }
    if (facts.trial.is_needed) {
        if (!facts.trial.claim.empty() || facts.under_way > 0) return for_a_while(closed_by_trial(facts));
        gate.most_claims = std::min<std::int64_t>(gate.most_claims, 1);
    }
    if (const auto most = facts.manager->spec.rateLimits.maxCreationsPerHour; most > 0) {
        if (facts.creations_last_hour >= most)
            // Checked again each minute, because remembering the oldest creation's time is not worth it.
            return for_a_while(closed(
                reasons::kRateLimited,
                base::counted(most, "claim") + (most == 1 ? " was" : " were") + " created in the last hour",
                api::Time(now.at + std::chrono::minutes{1})));
    }
    return gate;
}

bool observes_only(const NodeSmithControlPlane& manager) {
    return manager.spec.mode == Mode::Observe;
}

}  // namespace controllers::provisioning

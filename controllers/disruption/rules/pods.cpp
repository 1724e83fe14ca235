#include "controllers/disruption/rules/pods.hpp"

#include <algorithm>

#include "base/saturating.hpp"
#include "base/text.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/state/pod_budgets.hpp"

namespace controllers::disruption {

namespace {

// The annotation may be limited in time.
constexpr auto kRecheck = std::chrono::minutes{1};

std::string name_of(const api::Pod& pod) {
    return api::key_of(pod).str();
}

Blocker blocker(const char* reason, const api::Pod& pod, const std::string& what,
                std::optional<api::Time> until = std::nullopt) {
    return {reason, "pod " + name_of(pod) + " " + what, until};
}

// Volumes up to this limit hold sockets, locks and other scratch files, which the pod writes again.
constexpr std::int64_t kScratchBytes = std::int64_t{100} << 20;

// Reports whether the volume may hold data that took time to make. Memory and huge pages hold none, because
// every restart of the pod loses them. The kubelet enforces only positive limits.
bool holds_data(const api::EmptyDirVolumeSource& source) {
    if (!source.medium.empty()) return false;
    const auto limit = source.sizeLimit ? source.sizeLimit->value() : base::Saturating(0);
    return limit <= 0 || limit > kScratchBytes;
}

std::optional<Blocker> pod_blocker(const api::Pod& pod, const PodRules& rules, api::Time now) {
    if (!is_drainable(pod) || pod.metadata.deletionTimestamp) return std::nullopt;
    if (is_protected(pod, now))
        return blocker("DoNotDisrupt", pod, protection_of(pod, now), api::Time(now.at + kRecheck));
    if (const auto budget = obstacle_of(pod, rules.budgets); !budget.empty())
        return blocker("PodDisruptionBudget", pod, budget);
    if (is_safe_to_evict(pod)) return std::nullopt;
    if (!api::controller_of(pod.metadata)) return blocker("BarePod", pod, protection_of(pod, now));
    return rules.kind == Kind::Underutilized ? local_data_blocker(pod, rules.empty_dir) : std::nullopt;
}

// Checks budgets for pods that have no other place yet: none of them runs again before all are evicted.
std::optional<Blocker> budget_too_small(const PodPointers& pods, const BudgetPointers& budgets) {
    for (const auto& budget : budgets) {
        const auto leaving = std::ranges::count_if(
            pods, [&](const auto& pod) { return is_drainable(*pod) && uses_up(*pod, *budget); });
        if (leaving <= budget->status.disruptionsAllowed) continue;
        return Blocker{"PodDisruptionBudget",
                       "its pods fit elsewhere only once it is gone, and PodDisruptionBudget " +
                           api::key_of(*budget).str() + " allows only " +
                           std::to_string(budget->status.disruptionsAllowed) + " of its " +
                           base::counted(leaving, "pod") + " here to be evicted at the same time",
                       std::nullopt};
    }
    return std::nullopt;
}

// Detects a drain that would be given up before any pod is evicted.
std::optional<Blocker> too_slow(const PodPointers& pods, api::Duration timeout) {
    const auto end = longest_end(pods);
    if (end.duration <= timeout.value) return std::nullopt;
    return Blocker{
        "DrainWouldTimeOut",
        "the drain could not end within " + timeout.str() +
            " (scaleDown.drainTimeout): pods may take their terminationGracePeriodSeconds to end, " +
            end.pods + "; raise scaleDown.drainTimeout above " + api::Duration(end.duration).str() +
            ", or choose drainTimeoutAction: Force",
        std::nullopt};
}

}  // namespace

std::optional<Blocker> local_data_blocker(const api::Pod& pod, api::v1alpha1::EmptyDirPolicy policy) {
    if (is_safe_to_evict(pod)) return std::nullopt;
    const auto remedy = "annotate it " + std::string(api::annotations::kSafeToEvict) + "=true";
    const bool keeps = policy != api::v1alpha1::EmptyDirPolicy::Evict;
    for (const auto& volume : *pod.spec.volumes) {
        if (volume.hostPath)
            return blocker(
                "LocalStorage", pod,
                "has the hostPath volume " + volume.name + " (" + remedy + " if it may be evicted)");
        if (keeps && volume.emptyDir && holds_data(*volume.emptyDir))
            return blocker("LocalStorage", pod,
                           "has data in the emptyDir " + volume.name + " (" + remedy +
                               ", or set disruption.emptyDir of the pool to Evict, if it may be evicted)");
    }
    return std::nullopt;
}

std::optional<Blocker> pod_blocker(const PodPointers& all, const PodRules& rules, api::Time now) {
    if (rules.kind == Kind::Empty || rules.kind == Kind::Unhealthy) return std::nullopt;
    if (rules.has_deadline && rules.kind != Kind::Underutilized) return std::nullopt;
    auto pods = all;
    std::erase_if(pods, [&rules](const auto& pod) { return rules.spared.contains(pod->metadata.uid); });
    for (const auto& pod : pods)
        if (auto found = pod_blocker(*pod, rules, now)) return found;
    if (rules.given_up_after)
        if (auto slow = too_slow(pods, *rules.given_up_after)) return slow;
    return rules.all_at_once ? budget_too_small(pods, rules.budgets) : std::nullopt;
}

}  // namespace controllers::disruption

#include "controllers/claim/facts/undeclared_taints.hpp"

#include <algorithm>
#include <tuple>

#include "base/backoff.hpp"
#include "controllers/claim/facts/known_taints.hpp"
#include "scheduling/pods/tolerations.hpp"

namespace controllers::claim {

namespace {

using Taints = std::vector<api::Taint>;

constexpr std::size_t kMostTaints = 16;  // limit in a status

bool contains(const Taints& taints, const api::Taint& taint) {
    return std::ranges::any_of(taints,
                               [&](const api::Taint& other) { return api::same_taint(other, taint); });
}

// Reports whether Kubernetes or this operator sets and handles the taint. The network's taint is not
// included: the network plugin decides when to remove it, like any startup taint.
bool has_its_own_treatment(const api::Taint& taint) {
    const bool is_of_node =
        taint.key.starts_with("node.kubernetes.io/") && taint.key != "node.kubernetes.io/network-unavailable";
    return is_of_node || taint.key.starts_with("kubenodesmith.io/") ||
           taint.key == "node.cloudprovider.kubernetes.io/shutdown";
}

bool is_declared(const TaintFacts& facts, const api::Taint& taint) {
    if (contains(facts.claim.spec.taints, taint) || contains(facts.claim.spec.startupTaints, taint))
        return true;
    if (facts.host && contains(facts.host->taints, taint)) return true;
    if (!facts.pool) return false;
    const auto& machine = facts.pool->spec.machineTemplate;
    return contains(machine.taints, taint) || contains(machine.startupTaints, taint);
}

// Returns the undeclared taints. Taints that the cluster removes prevent the Node from being
// Initialized, so they do not count before.
Taints undeclared(const ClaimStatus& status, const TaintFacts& facts) {
    const bool is_initialized = api::is_true(status.conditions, conditions::kInitialized);
    Taints result;
    for (const auto& taint : facts.node.spec.taints) {
        const bool keeps_pods_away =
            taint.effect == api::taints::kNoSchedule || taint.effect == api::taints::kNoExecute;
        if (!keeps_pods_away || has_its_own_treatment(taint) || is_declared(facts, taint)) continue;
        if (!is_initialized && scheduling::passes_by_itself(taint)) continue;
        result.push_back(taint);
    }
    if (result.size() > kMostTaints) result.resize(kMostTaints);
    return result;
}

// Returns until when undeclared taints count as temporary; nullopt: that time has not begun.
std::optional<api::Time> end_of_youth(const ClaimStatus& status, const NodeSmithPool* pool) {
    static const api::v1alpha1::ScaleUp kDefaults;
    if (!api::is_true(status.conditions, conditions::kInitialized)) return std::nullopt;
    const auto since = api::true_since(status.conditions, conditions::kInitialized);
    return later(since.value_or(api::Time{}), (pool ? pool->spec.scaleUp : kDefaults).undeclaredTaintTimeout);
}

bool is_young(const ClaimStatus& status, const NodeSmithPool* pool, api::Time now) {
    const auto end = end_of_youth(status, pool);
    return !end || now < *end;
}

void settle(ClaimStatus& status, std::string_view reason, std::string message, api::Time now) {
    set(status, conditions::kTaintsSettled, ConditionStatus::True, reason, std::move(message), now);
}

}  // namespace

std::vector<api::Taint> temporary_taints(const TaintFacts& facts, api::Time now) {
    const auto& status = facts.claim.status;
    const auto* settled = api::find_condition(status.conditions, conditions::kTaintsSettled);
    if (settled && settled->reason == reasons::kTaintStays) return {};
    // The claim records when they have stayed for too long, so that no other machine is created earlier.
    const bool is_awaited = settled && settled->status != ConditionStatus::True;
    if (!is_awaited && !is_young(status, facts.pool, now)) return {};
    return undeclared(status, facts);
}

std::string undeclared_text(const std::vector<api::Taint>& taints, const std::string& pool) {
    std::string names;
    std::string owners;
    for (const auto& taint : taints) {
        names += (names.empty() ? "" : ", ") + scheduling::describe(taint);
        const auto owner = known_owner_of_taint(taint.key);
        if (!owner.empty() && owners.find(owner) == std::string::npos)
            owners += (owners.empty() ? "" : ", ") + owner;
    }
    return (taints.size() == 1 ? "taint " : "taints ") + names + ", which pool " + pool +
           " does not declare" + (owners.empty() ? "" : " (known from " + owners + ")");
}

std::optional<api::Time> note_taints(ClaimStatus& status, const TaintFacts& facts, api::Time now) {
    const auto present = undeclared(status, facts);
    const auto* known = api::find_condition(status.conditions, conditions::kTaintsSettled);
    auto& noted = status.undeclaredTaints;
    const bool stays = known && known->reason == reasons::kTaintStays;
    if (stays) std::erase_if(noted, [&](const api::Taint& taint) { return !contains(present, taint); });
    if (present.empty() || (stays && noted.empty())) {
        noted.clear();
        if (known && known->reason != reasons::kTaintsGone)
            settle(status, reasons::kTaintsGone, "the undeclared taints of the Node are gone", now);
        return std::nullopt;
    }
    if (stays) return std::nullopt;
    const bool young = is_young(status, facts.pool, now);
    const bool is_awaited = known && known->status != ConditionStatus::True;
    // A taint that is added later is someone's decision.
    if (!young && !is_awaited) return std::nullopt;
    noted = present;
    const auto text = "the Node has the " + undeclared_text(present, facts.claim.spec.poolRef);
    const std::string advice =
        "if a program removes it by itself, declare it under machineTemplate.startupTaints of the pool; if "
        "it is meant to stay, under machineTemplate.taints";
    const auto end = end_of_youth(status, facts.pool);
    if (!young) {
        settle(status, reasons::kTaintStays,
               text +
                   "; it has stayed and counts as permanent, so pods that do not tolerate it get no "
                   "machine of this pool: " +
                   advice,
               now);
        return std::nullopt;
    }
    set(status, conditions::kTaintsSettled, ConditionStatus::False, reasons::kTaintNotDeclared,
        text + "; it counts as temporary" + (end ? " until " + end->str() : std::string()) +
            ", and its pods get no other machine: " + advice,
        now);
    return end;
}

std::optional<api::Time> usable_since(const NodeSmithClaim& claim) {
    const auto since = api::true_since(claim.status.conditions, conditions::kInitialized);
    const auto* settled = api::find_condition(claim.status.conditions, conditions::kTaintsSettled);
    if (!since || !settled) return since;
    if (settled->status != ConditionStatus::True) return std::nullopt;
    return std::max(since, settled->lastTransitionTime);
}

}  // namespace controllers::claim

namespace controllers {

using api::v1alpha1::UndeclaredTaint;

namespace {

// A Node without a taint proves nothing until an agent had time to add it.
constexpr std::chrono::minutes kSettlesWithin{1};
constexpr base::Backoff kNextTry{std::chrono::minutes{10}, std::chrono::hours{6}};

bool keeps_taints(const NodeSmithClaim& claim) {
    return claim::has_reason(claim.status, conditions::kTaintsSettled, reasons::kTaintStays);
}

bool shows_taints(const NodeSmithClaim& claim, api::Time now) {
    const auto since = claim::usable_since(claim);
    return since && (keeps_taints(claim) || since->at + kSettlesWithin <= now.at);
}

const NodeSmithClaim* youngest_that_shows(const ClaimPointers& claims, api::Time now) {
    const NodeSmithClaim* youngest = nullptr;
    const auto age = [](const NodeSmithClaim& claim) {
        return std::tuple(claim.metadata.creationTimestamp, claim.metadata.name);
    };
    for (const auto& claim : claims)
        if (shows_taints(*claim, now) && (!youngest || age(*youngest) < age(*claim))) youngest = claim.get();
    return youngest;
}

bool is_declared_by(const NodeSmithPool& pool, std::string_view key, std::string_view effect) {
    const auto& machine = pool.spec.machineTemplate;
    return api::find_taint(machine.taints, key, effect) ||
           api::find_taint(machine.startupTaints, key, effect);
}

api::Time next_try(const UndeclaredTaint& entry, api::Time now) {
    return api::Time(now.at + std::chrono::ceil<std::chrono::seconds>(kNextTry.after(entry.count)));
}

UndeclaredTaint seen_again(const std::vector<UndeclaredTaint>& known, const api::Taint& taint) {
    UndeclaredTaint result{taint.key, taint.value, taint.effect, 1, std::nullopt};
    for (const auto& entry : known)
        if (entry.key == taint.key && entry.effect == taint.effect)
            result.count = entry.count + (entry.nextRetryTime ? 1 : 0);
    return result;
}

// Counts a taint that one machine shows. A kubelet may give its own Node any taint when it joins. So after a
// while another machine shows whether all of the pool get it.
UndeclaredTaint seen_on_one(const std::vector<UndeclaredTaint>& known, const api::Taint& taint,
                            const NodeSmithClaim& claim, api::Time now) {
    UndeclaredTaint result{taint.key, taint.value, taint.effect, 1, std::nullopt};
    for (const auto& entry : known)
        if (entry.key == taint.key && entry.effect == taint.effect) result = entry;
    const bool is_another_machine =
        result.nextRetryTime && claim.metadata.creationTimestamp >= result.nextRetryTime;
    if (is_another_machine) ++result.count;
    if (is_another_machine || !result.nextRetryTime) result.nextRetryTime = next_try(result, now);
    return result;
}

bool is_kept_by_two(const ClaimPointers& claims, const api::Taint& taint) {
    return std::ranges::count_if(claims, [&](const auto& claim) {
               return keeps_taints(*claim) &&
                      api::find_taint(claim->status.undeclaredTaints, taint.key, taint.effect);
           }) >= 2;
}

}  // namespace

std::vector<UndeclaredTaint> learn_taints(const NodeSmithPool& pool, const ClaimPointers& claims,
                                          api::Time now) {
    const auto& known = pool.status.undeclaredTaints;
    std::vector<UndeclaredTaint> result;
    if (const auto* youngest = youngest_that_shows(claims, now)) {
        if (!keeps_taints(*youngest)) return {};
        for (const auto& taint : youngest->status.undeclaredTaints)
            result.push_back(is_kept_by_two(claims, taint) ? seen_again(known, taint)
                                                           : seen_on_one(known, taint, *youngest, now));
    } else {
        result = known;
        for (auto& entry : result)
            if (!entry.nextRetryTime) entry.nextRetryTime = next_try(entry, now);
    }
    std::erase_if(
        result, [&](const UndeclaredTaint& entry) { return is_declared_by(pool, entry.key, entry.effect); });
    return result;
}

bool is_expected(const UndeclaredTaint& taint, api::Time now) {
    return !taint.nextRetryTime || now < *taint.nextRetryTime;
}

std::string stays_text(const NodeSmithPool& pool) {
    std::vector<api::Taint> taints;
    for (const auto& entry : pool.status.undeclaredTaints)
        taints.push_back({entry.key, entry.value, entry.effect, std::nullopt});
    if (taints.empty()) return {};
    return "its Nodes keep the " + claim::undeclared_text(taints, pool.metadata.name) +
           "; pods that do not tolerate it get no machine of this pool: find out what adds it; if a program "
           "removes it by itself, declare it under machineTemplate.startupTaints, and if it is meant to "
           "stay, under machineTemplate.taints";
}

}  // namespace controllers

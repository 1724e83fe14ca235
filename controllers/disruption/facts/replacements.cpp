#include "controllers/disruption/facts/replacements.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"

namespace controllers {

namespace {

constexpr std::chrono::hours kRemembered{1};
constexpr std::size_t kMostReplacementsRemembered = 16;

std::string annotation(const api::ObjectMeta& metadata, std::string_view key) {
    const auto* value = api::find(metadata.annotations, key);
    return value ? *value : std::string();
}

std::int32_t number_in(const std::string& text) {
    std::int32_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

bool served_long(const NodeSmithClaim& claim) {
    const auto since = api::true_since(claim.status.conditions, conditions::kInitialized);
    return since && disruption::decided_at(claim).at - since->at >= kServedLong;
}

// Returns the number of the next replacement, counted from the first one for the same cause.
std::int32_t next_count(const NodeSmithClaim& claim, const NodeSmithPool& pool) {
    const auto lineage = lineage_of(claim, pool);
    const bool goes_on = lineage.cause == claim.status.disruptionCause && !served_long(claim);
    return goes_on ? lineage.count + 1 : 1;
}

OpenReplacement opened_by(const NodeSmithClaim& claim, const NodeSmithPool& pool) {
    return {claim.metadata.name, claim.status.disruptionCause, next_count(claim, pool),
            disruption::decided_at(claim)};
}

bool is_replaced(const std::string& name, const ClaimPointers& claims) {
    return std::ranges::any_of(claims, [&name](const auto& claim) {
        const auto* replaces = api::find(claim->metadata.annotations, api::annotations::kReplaces);
        return replaces && *replaces == name;
    });
}

bool is_being_replaced(const NodeSmithClaim& claim) {
    return !claim.status.disruptionCause.empty() &&
           api::is_true(claim.status.conditions, conditions::kDisrupted);
}

void forget_settled(std::vector<OpenReplacement>& open, const ClaimPointers& claims, api::Time now) {
    std::erase_if(open, [&](const OpenReplacement& entry) {
        return !entry.time || now.at - entry.time->at >= kRemembered || is_replaced(entry.claim, claims);
    });
}

}  // namespace

Lineage lineage_of(const NodeSmithClaim& claim, const NodeSmithPool& pool) {
    const auto& metadata = claim.metadata;
    Lineage lineage{annotation(metadata, api::annotations::kReplaces), "", 0};
    const auto asked = annotation(pool.metadata, api::annotations::kRetryReplacement);
    if (annotation(metadata, api::annotations::kRetryReplacement) != asked) return lineage;
    lineage.cause = annotation(metadata, api::annotations::kReplacesFor);
    lineage.count = number_in(annotation(metadata, api::annotations::kReplacementsInARow));
    return lineage;
}

std::vector<OpenReplacement> open_replacements(const NodeSmithPool& pool, const ClaimPointers& claims,
                                               api::Time now) {
    auto open = pool.status.openReplacements;
    for (const auto& claim : claims) {
        if (!is_being_replaced(*claim)) continue;
        std::erase_if(open, [&claim](const auto& entry) { return entry.claim == claim->metadata.name; });
        open.push_back(opened_by(*claim, pool));
        // A drain may take longer than removed machines are remembered.
        open.back().time = now;
    }
    forget_settled(open, claims, now);
    std::ranges::sort(open, [](const auto& a, const auto& b) {
        return std::tie(a.time, a.claim) < std::tie(b.time, b.claim);
    });
    return open;
}

std::vector<OpenReplacement> with_removed(const NodeSmithPool& pool, const ClaimPointers& claims,
                                          const NodeSmithClaim& removed, api::Time now) {
    auto open = pool.status.openReplacements;
    std::erase_if(open, [&removed](const auto& entry) { return entry.claim == removed.metadata.name; });
    if (!removed.status.disruptionCause.empty()) {
        open.push_back(opened_by(removed, pool));
        open.back().time = now;
    }
    forget_settled(open, claims, now);
    if (open.size() > kMostReplacementsRemembered)
        open.erase(open.begin(), open.end() - static_cast<std::ptrdiff_t>(kMostReplacementsRemembered));
    return open;
}

}  // namespace controllers

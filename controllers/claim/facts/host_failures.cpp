#include "controllers/claim/facts/host_failures.hpp"

#include <algorithm>
#include <chrono>

#include "controllers/claim/facts/claim_state.hpp"

namespace controllers::claim {

namespace {

constexpr std::chrono::minutes kFailuresRemembered{30};

}  // namespace

std::map<std::string, int> recent_host_failures(const ClaimPointers& claims, const kube::ObjectKey& provider,
                                                api::Time now) {
    std::map<std::string, api::Time> joined;
    for (const auto& claim : claims) {
        const auto since = api::true_since(claim->status.conditions, conditions::kRegistered);
        if (!since || provider_of(*claim) != provider) continue;
        auto& last = joined[claim->status.host];
        last = std::max(last, *since);
    }
    std::map<std::string, int> failures;
    for (const auto& claim : claims) {
        const auto& failure = claim->status.lastFailure;
        const bool has_host = failure && failure->time && !failure->host.empty();
        if (!has_host || provider_of(*claim) != provider) continue;
        if (now.at - failure->time->at > kFailuresRemembered) continue;
        const auto worked = joined.find(failure->host);
        if (worked != joined.end() && *failure->time <= worked->second) continue;
        ++failures[failure->host];
    }
    return failures;
}

}  // namespace controllers::claim

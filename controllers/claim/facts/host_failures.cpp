#include "controllers/claim/facts/host_failures.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "controllers/claim/facts/claim_state.hpp"

namespace controllers::claim {

namespace {

constexpr std::chrono::minutes kFailuresRemembered{30};

// Returns all hosts that failed the claim's attempts. The times of the earlier ones are not kept, so the time
// of the last failure counts for all.
std::set<std::string> failed_hosts_of(const NodeSmithClaim& claim) {
    std::set<std::string> hosts(claim.status.failedHosts.begin(), claim.status.failedHosts.end());
    hosts.insert(claim.status.lastFailure->host);
    hosts.erase("");
    return hosts;
}

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
        if (!failure || !failure->time || provider_of(*claim) != provider) continue;
        if (now.at - failure->time->at > kFailuresRemembered) continue;
        for (const auto& host : failed_hosts_of(*claim)) {
            const auto worked = joined.find(host);
            const bool has_worked_since = worked != joined.end() && *failure->time <= worked->second;
            if (!has_worked_since) ++failures[host];
        }
    }
    return failures;
}

}  // namespace controllers::claim

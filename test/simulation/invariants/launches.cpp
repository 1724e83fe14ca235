// Invariant 9: at most three machines an hour are launched for the same pod. A launch does not count if
// people undid it by deleting its claim, Node or pool, or by taking its machine. They can expect another
// launch. A claim that failed before its machine ran does not count either.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

constexpr std::size_t kMost = 3;
// The hour is measured by the calendar, because only the calendar survives a restart. If calendars jump,
// those of processes are wrong by minutes, and so is their hour.
constexpr std::chrono::minutes kHour{60};
constexpr std::chrono::minutes kJumps{10};

class NeverLaunchesForEver final : public Invariant {
public:
    explicit NeverLaunchesForEver(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (after) learn(*after);
                if (!before && after) check(*after);
            });
    }

private:
    struct PlannedClaim {
        base::WallTime at;
        std::string claim_uid;
    };
    // Traces holds the names of a claim's pool, machines and Nodes.
    struct Traces {
        std::string pool;
        std::set<std::string> uuids, nodes;
        bool has_failed = false;
        bool has_run = false;
    };

    void learn(const NodeSmithClaim& claim) {
        auto& traces = traces_[claim.metadata.uid];
        traces.pool = claim.spec.poolRef;
        if (!claim.status.systemUUID.empty()) traces.uuids.insert(claim.status.systemUUID);
        if (!claim.status.nodeName.empty()) traces.nodes.insert(claim.status.nodeName);
        const auto& conditions = claim.status.conditions;
        traces.has_failed = api::is_true(conditions, api::conditions::kFailed);
        if (claim.status.boot && claim.status.boot->startedTime) traces.has_run = true;
        if (api::is_true(conditions, api::conditions::kLaunched)) traces.has_run = true;
    }

    bool was_undone(const std::string& claim_uid) const {
        const auto& deeds = stage_.deeds;
        if (stage_.was_deleted_by_others(claim_uid) || deeds.claims_without_finalizer.contains(claim_uid))
            return true;
        const auto& traces = traces_.at(claim_uid);
        if (traces.has_failed && !traces.has_run) return true;
        return deeds.deleted_pools.contains(traces.pool) ||
               std::ranges::any_of(traces.uuids,
                                   [this](const auto& uuid) {
                                       return world_.administrators.meddled_with(uuid) ||
                                              world_.bmcs.meddled_with(uuid);
                                   }) ||
               std::ranges::any_of(traces.nodes, [&](const auto& node) {
                   return deeds.deleted_nodes.contains(node) ||
                          world_.interference.deleted_nodes.contains(node);
               });
    }

    std::chrono::minutes hour() const {
        return world_.faults.has(Fault::clock_jump) ? kHour - kJumps : kHour;
    }

    void check(const NodeSmithClaim& claim) {
        auto noted = claim.metadata.annotations->find(std::string(api::annotations::kLaunchedFor));
        if (noted == claim.metadata.annotations->end()) return;
        const auto& uids = noted->second;
        for (std::size_t begin = 0; begin < uids.size();) {
            auto end = std::min(uids.find(',', begin), uids.size());
            auto& planned_claims = launched_[uids.substr(begin, end - begin)];
            std::erase_if(planned_claims, [this](const PlannedClaim& planned_claim) {
                return planned_claim.at + hour() < world_.clock.wall_now() ||
                       was_undone(planned_claim.claim_uid);
            });
            planned_claims.push_back({world_.clock.wall_now(), claim.metadata.uid});
            if (planned_claims.size() > kMost) {
                stage_.violate("nothing is launched for ever",
                               "claim " + claim.metadata.name + " is number " +
                                   std::to_string(planned_claims.size()) + " within an hour for pod " +
                                   uids.substr(begin, end - begin));
            }
            begin = end + 1;
        }
    }

    std::map<std::string, std::deque<PlannedClaim>> launched_;  // by pod UID
    std::map<std::string, Traces> traces_;                      // by claim UID
};

}  // namespace

std::unique_ptr<Invariant> never_launches_for_ever(const Stage& stage) {
    return std::make_unique<NeverLaunchesForEver>(stage);
}

}  // namespace simulation

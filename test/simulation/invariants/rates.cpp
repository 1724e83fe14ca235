// The rates of the ControlPlane hold, whoever leads. Within an hour the operator creates no more machines for
// pools than spec.rateLimits allows, and removes no more nodes. A claim that failed before it had a machine
// does not count.
#include <deque>
#include <set>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

// The calendars of processes jump, and may be wrong by two minutes in either direction.
constexpr std::chrono::minutes kNearlyAnHour{50};

class RatesHold final : public Invariant {
public:
    explicit RatesHold(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) { note(before, after); });
        // Creations and removals of a deleted pool are not recorded anywhere, nor those of a claim that was
        // removed by force.
        world_.view.subscribe<NodeSmithPool>([this](const NodeSmithPool* before, const NodeSmithPool* after) {
            if (before && !after) forget();
        });
    }

private:
    // Reports whether the operator chose the removal, and neither another party nor the end of a pool caused
    // it.
    bool is_chosen(const NodeSmithClaim& claim) const {
        static const std::set<std::string> kKinds{"Unhealthy", "Evacuation", "Empty",
                                                  "Drifted",   "Expired",    "Underutilized"};
        const auto* pool = world_.view.find<NodeSmithPool>({claim.metadata.namespace_, claim.spec.poolRef});
        const auto* disrupted = api::find_condition(claim.status.conditions, api::conditions::kDisrupted);
        return pool && !pool->metadata.deletionTimestamp && world_.network.acting() && disrupted &&
               disrupted->status == api::ConditionStatus::True && kKinds.contains(disrupted->reason);
    }

    void note(const NodeSmithClaim* before, const NodeSmithClaim* after) {
        if (before && !after && stage_.deeds.claims_without_finalizer.contains(before->metadata.uid))
            forget();
        if (!after) return;
        const auto& rates = world_.scenario.control_plane.spec.rateLimits;
        const auto& uid = after->metadata.uid;
        if (!before && api::controller_of(after->metadata) && world_.network.acting())
            count(creations_, uid, rates.maxCreationsPerHour, "machines were created");
        const bool failed = api::is_true(after->status.conditions, api::conditions::kFailed);
        if (failed && !after->status.hasRun)
            std::erase_if(creations_, [&uid](const Deed& deed) { return deed.uid == uid; });
        const bool is_removed =
            after->metadata.deletionTimestamp && !(before && before->metadata.deletionTimestamp);
        if (is_removed && is_chosen(*after))
            count(removals_, uid, rates.maxRemovalsPerHour, "nodes were removed");
    }

    void forget() {
        creations_.clear();
        removals_.clear();
    }

    struct Deed {
        std::string uid;  // of the claim
        base::TimePoint at{};
    };

    void count(std::deque<Deed>& deeds, const std::string& uid, std::int64_t most, const std::string& what) {
        deeds.push_back({uid, world_.now()});
        while (deeds.front().at + kNearlyAnHour < world_.now()) deeds.pop_front();
        if (most > 0 && std::ssize(deeds) > most)
            stage_.violate("rates hold", std::to_string(deeds.size()) + " " + what + " within 50 minutes, " +
                                             std::to_string(most) + " an hour are allowed");
    }

    std::deque<Deed> creations_, removals_;
};

}  // namespace

std::unique_ptr<Invariant> rates_hold(const Stage& stage) {
    return std::make_unique<RatesHold>(stage);
}

}  // namespace simulation

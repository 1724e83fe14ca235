// No deadline fires because of a clock. When the operator gives up or removes something after a wait, that
// time has really passed in the world. The clocks of hosts jump and are wrong by hours.
#include <algorithm>
#include <map>
#include <set>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

using api::ConditionStatus;
namespace conditions = api::conditions;
namespace reasons = api::reasons;

// A calendar that is adjusted to the API server's shortens a period by a tenth at most.
constexpr double kLeastShare = 0.9;
// Time from a process's look at the clock until its write has arrived.
constexpr std::chrono::seconds kOnTheWay{20};
constexpr std::chrono::minutes kOnABadWay{3};

class NothingIsDueByAClock final : public Invariant {
public:
    explicit NothingIsDueByAClock(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithPool>([this](const NodeSmithPool*, const NodeSmithPool* after) {
            if (after) note_pool(*after);
        });
        world_.view.subscribe<api::Node>(
            [this](const api::Node* before, const api::Node* after) { note_node(before, after); });
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (!after) {
                    begun_.erase(before->metadata.uid);
                    return;
                }
                const bool is_ours = world_.network.acting();
                if (!is_ours) forged_.insert(after->metadata.uid);
                if (before && is_ours && !forged_.contains(after->metadata.uid)) check(*before, *after);
                note_claim(before, *after);
            });
    }

private:
    // Periods holds the shortest period that its users ever set. A period that was shortened may be due
    // immediately.
    struct Periods {
        base::Duration provision{base::Duration::max()};
        base::Duration registration{base::Duration::max()};
        base::Duration initialization{base::Duration::max()};
        base::Duration not_ready{base::Duration::max()};
        base::Duration drain{base::Duration::max()};
        base::Duration node_age{base::Duration::max()};
    };

    void note_pool(const NodeSmithPool& pool) {
        auto& known = periods_[api::key_of(pool)];
        const auto shorten = [](base::Duration& shortest, const api::Duration& now) {
            shortest = std::min(shortest, now.value);
        };
        shorten(known.provision, pool.spec.scaleUp.provisionTimeout);
        shorten(known.registration, pool.spec.scaleUp.registrationTimeout);
        shorten(known.initialization, pool.spec.scaleUp.initializationTimeout);
        shorten(known.not_ready, pool.spec.disruption.repair.notReadyFor);
        shorten(known.drain, pool.spec.scaleDown.drainTimeout);
        shorten(known.node_age, pool.spec.scaleDown.minNodeAge);
    }

    static bool serves(const api::Node& node) {
        return api::is_true(node.status.conditions, conditions::kReady);
    }

    void note_node(const api::Node* before, const api::Node* after) {
        const auto& name = (after ? after : before)->metadata.name;
        if (!before) created_[name] = world_.now();
        if (!after || serves(*after))
            unready_.erase(name);
        else if (!before || serves(*before))
            unready_[name] = world_.now();
    }

    void note_claim(const NodeSmithClaim* before, const NodeSmithClaim& after) {
        for (const auto& condition : after.status.conditions) {
            const auto* known =
                before ? api::find_condition(before->status.conditions, condition.type) : nullptr;
            if (!known || known->status != condition.status)
                begun_[after.metadata.uid][condition.type] = world_.now();
        }
    }

    void check(const NodeSmithClaim& before, const NodeSmithClaim& after) {
        const auto found = periods_.find({after.metadata.namespace_, after.spec.poolRef});
        if (found == periods_.end()) return;
        const auto& periods = found->second;
        if (after.status.lastFailure && after.status.lastFailure != before.status.lastFailure) {
            const auto& reason = after.status.lastFailure->reason;
            if (reason == reasons::kProvisionTimeout)
                expect(after, reason, begin_of(after, conditions::kLaunched), periods.provision);
            if (reason == reasons::kRegistrationTimeout)
                expect(after, reason, begin_of(after, conditions::kLaunched), periods.registration);
            if (reason == reasons::kInitializationTimeout)
                expect(after, reason, begin_of(after, conditions::kRegistered), periods.initialization);
        }
        const auto* was = api::find_condition(before.status.conditions, conditions::kDisrupted);
        const auto* is = api::find_condition(after.status.conditions, conditions::kDisrupted);
        if (!is || (was && was->status == is->status && was->reason == is->reason)) return;
        check_disruption(after, *is, periods);
    }

    void check_disruption(const NodeSmithClaim& claim, const api::Condition& disrupted,
                          const Periods& periods) {
        const auto& node = claim.status.nodeName;
        const bool is_decided = disrupted.status == ConditionStatus::True;
        if (!is_decided && disrupted.reason == reasons::kDrainTimeout)
            expect(claim, disrupted.reason, begin_of(claim, conditions::kDrained), periods.drain);
        if (!is_decided) return;
        const bool is_off = disrupted.message.find("switched off") != std::string::npos;
        if (disrupted.reason == reasons::kUnhealthy && !is_off)
            expect(claim, disrupted.reason, time_in(unready_, node), periods.not_ready);
        if (disrupted.reason == "Empty" || disrupted.reason == "Underutilized")
            expect(claim, disrupted.reason, time_in(created_, node), periods.node_age);
    }

    static std::optional<base::TimePoint> time_in(const std::map<std::string, base::TimePoint>& times,
                                                  const std::string& key) {
        const auto found = times.find(key);
        return found == times.end() ? std::nullopt : std::optional(found->second);
    }

    std::optional<base::TimePoint> begin_of(const NodeSmithClaim& claim, std::string_view condition) const {
        const auto found = begun_.find(claim.metadata.uid);
        return found == begun_.end() ? std::nullopt : time_in(found->second, std::string(condition));
    }

    base::Duration on_the_way() const {
        const auto& faults = world_.faults;
        const bool is_bad = faults.has(Fault::paused) || faults.has(Fault::api_slow) ||
                            faults.has(Fault::api_unreachable) || faults.has(Fault::provider_slow);
        return is_bad ? base::Duration(kOnABadWay) : base::Duration(kOnTheWay);
    }

    // No operator can tell a jump of the API server's clock while it did not run from time that passed.
    base::Duration unseen_jumps_since(base::TimePoint begin) const {
        base::Duration sum{};
        for (const auto& [time, jump] : stage_.deeds.unseen_jumps)
            if (time >= begin) sum += std::max(jump, base::Duration::zero());
        return sum;
    }

    void expect(const NodeSmithClaim& claim, const std::string& what, std::optional<base::TimePoint> begin,
                base::Duration period) {
        if (!begin) return;
        world_.happenings.count("clocks: a period was judged");
        const auto passed = world_.now() - *begin + unseen_jumps_since(*begin);
        const base::Duration least(
            static_cast<std::int64_t>(static_cast<double>(period.count()) * kLeastShare));
        if (passed + on_the_way() >= least) return;
        stage_.violate("no deadline fires because of a clock",
                       "claim " + claim.metadata.name + " has " + what + " after " +
                           api::Duration(passed).str() + " instead of " + api::Duration(period).str());
    }

    std::map<api::ObjectKey, Periods> periods_;
    std::map<std::string, std::map<std::string, base::TimePoint>> begun_;  // by claim UID and condition
    std::map<std::string, base::TimePoint> unready_, created_;             // by Node
    std::set<std::string> forged_;  // UIDs of claims whose status was written by others
};

}  // namespace

std::unique_ptr<Invariant> nothing_is_due_by_a_clock(const Stage& stage) {
    return std::make_unique<NothingIsDueByAClock>(stage);
}

}  // namespace simulation

// Pods that the operator evicts to save a node soon run again. They run on nodes that exist or were launched
// beforehand. This is judged only when all trouble has ended.
#include <algorithm>
#include <map>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

constexpr std::chrono::minutes kBoundWithin{2};

std::string owner_of(const api::Pod& pod) {
    const auto* owner = api::controller_of(pod.metadata);
    return owner ? owner->uid : "";
}

class EvictedPodsRunAgain final : public Invariant {
public:
    explicit EvictedPodsRunAgain(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<api::Pod>(
            [this](const api::Pod* before, const api::Pod* after) { follow(before, after); });
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (!before && after) check_launch(*after);
            });
    }

    void each_second() override {
        if (world_.faults.active()) calm_since_ = world_.now();
        for (const auto& [uid, successor] : waiting_) {
            if (successor.since + kBoundWithin >= world_.now()) continue;
            stage_.violate("evicted pods run again",
                           "pod " + successor.name +
                               ", whose predecessor was "
                               "evicted to save a node, is not bound after 2 minutes");
        }
    }

private:
    struct Successor {
        std::string name;
        base::TimePoint since;
    };

    bool is_calm() const {
        return !world_.faults.active() && calm_since_ + kSettled <= world_.now() &&
               stage_.last_deed() + kSettled <= world_.now();
    }

    // Reports whether a drain removes the node to save cost, without being forced by anybody.
    bool is_being_saved(const std::string& node) const {
        return std::ranges::any_of(world_.view.all<NodeSmithClaim>(), [&node](const auto& entry) {
            const auto& claim = *entry.second;
            const auto* why = api::find_condition(claim.status.conditions, api::conditions::kDisrupted);
            return claim.status.nodeName == node && !claim.metadata.deletionTimestamp && why &&
                   why->status == api::ConditionStatus::True && why->reason == api::reasons::kUnderutilized;
        });
    }

    void follow(const api::Pod* before, const api::Pod* after) {
        const auto& pod = after ? *after : *before;
        // A pod whose data was given up waits for a person.
        if (uses_volumes(pod)) return;
        if (!after || !after->spec.nodeName.empty()) waiting_.erase(pod.metadata.uid);
        const bool begins_to_end = before && after && !before->metadata.deletionTimestamp &&
                                   after->metadata.deletionTimestamp && is_being_saved(after->spec.nodeName);
        if (begins_to_end && is_calm() && !belongs_to_node(pod)) ++evicted_[owner_of(pod)];
        if (before || !after || !after->spec.nodeName.empty()) return;
        const auto evicted = evicted_.find(owner_of(pod));
        if (evicted == evicted_.end()) return;
        waiting_[pod.metadata.uid] = {pod.metadata.name, world_.now()};
        if (--evicted->second == 0) evicted_.erase(evicted);
    }

    void check_launch(const NodeSmithClaim& claim) {
        const auto* uids = api::find(claim.metadata.annotations, api::annotations::kLaunchedFor);
        for (const auto& [uid, successor] : waiting_) {
            if (!uids || uids->find(uid) == std::string::npos) continue;
            stage_.violate("evicted pods run again", "claim " + claim.metadata.name + " is created for pod " +
                                                         successor.name +
                                                         ", whose predecessor was evicted to save a node");
        }
    }

    base::TimePoint calm_since_{};
    std::map<std::string, int> evicted_;        // number of successors that are still to come, by UID of the
                                                // controller
    std::map<std::string, Successor> waiting_;  // by UID
};

}  // namespace

std::unique_ptr<Invariant> evicted_pods_run_again(const Stage& stage) {
    return std::make_unique<EvictedPodsRunAgain>(stage);
}

}  // namespace simulation

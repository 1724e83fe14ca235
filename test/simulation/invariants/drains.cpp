// A drain evicts each pod once. While the eviction of one pod fails, the other pods of its node are evicted,
// because each request is answered separately. Only nodes on which an eviction has just failed are judged,
// since these are certainly being drained.
#include <algorithm>
#include <map>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

// Time between two tries to evict the pod that fails.
constexpr std::chrono::seconds kGoesOn{100};
// Covers two unlucky requests for a pod, and a claim's reconciler that starts slowly.
constexpr std::chrono::minutes kLeavesWithin{2};
constexpr std::int32_t kCriticalPod = 2'000'000'000;

class DrainsGoOn final : public Invariant {
public:
    explicit DrainsGoOn(const Stage& stage) : Invariant(stage) {
        world_.observe([this](const Process&, const base::HttpRequest& request,
                              const base::HttpResponse& response) { note(request, response); });
    }

    void each_second() override {
        std::map<std::string, base::TimePoint> still;
        for (const auto& [key, pod] : world_.view.all<api::Pod>()) {
            if (!may_leave(*pod)) continue;
            const auto since =
                stays_.contains(pod->metadata.uid) ? stays_.at(pod->metadata.uid) : world_.now();
            still[pod->metadata.uid] = since;
            if (since + kLeavesWithin >= world_.now()) continue;
            stage_.violate("a drain goes on", "pod " + key.str() + " is still on node " + pod->spec.nodeName +
                                                  ", on which only the eviction of other pods fails");
        }
        stays_ = std::move(still);
    }

private:
    void note(const base::HttpRequest& request, const base::HttpResponse& response) {
        if (response.status < 400 || !world_.interference.webhook) return;
        for (const auto& [key, pod] : world_.view.all<api::Pod>())
            if (request.target == "/api/v1/namespaces/" + key.namespace_ + "/pods/" + key.name + "/eviction")
                failed_at_[pod->spec.nodeName] = world_.now();
    }

    bool is_troubled() const {
        const auto& faults = world_.faults;
        return faults.recent_kill() || faults.recent(Fault::paused) ||
               faults.recent(Fault::api_unreachable) || faults.recent(Fault::second_operator) ||
               stage_.operators.alive().empty();
    }

    bool is_being_drained(const std::string& node) const {
        const auto failed = failed_at_.find(node);
        if (failed == failed_at_.end() || failed->second + kGoesOn < world_.now()) return false;
        return std::ranges::any_of(world_.view.all<NodeSmithClaim>(), [&node](const auto& entry) {
            return entry.second->status.nodeName == node &&
                   api::is_false(entry.second->status.conditions, api::conditions::kDrained);
        });
    }

    bool has_budget(const api::Pod& pod) const {
        return std::ranges::any_of(world_.view.all<api::PodDisruptionBudget>(), [&pod](const auto& entry) {
            const auto& budget = *entry.second;
            return budget.metadata.namespace_ == pod.metadata.namespace_ && budget.spec.selector &&
                   api::matches(*budget.spec.selector, pod.metadata.labels);
        });
    }

    // Reports whether nothing about the pod itself keeps it. Critical pods are evicted after the others.
    bool may_leave(const api::Pod& pod) const {
        if (!world_.interference.webhook || !is_alive(pod) || pod.spec.nodeName.empty()) return false;
        return !belongs_to_node(pod) && !world_.interference.webhook->is_for(pod.metadata.name) &&
               pod.spec.priority.value_or(0) < kCriticalPod && pod.metadata.annotations->empty() &&
               !uses_volumes(pod) && !has_budget(pod) && is_being_drained(pod.spec.nodeName) &&
               !came_back(pod) && !is_troubled();
    }

    // Reports whether the pod came to the Node after its drain had begun. It ends with the machine, as the
    // one after it would come back, too.
    bool came_back(const api::Pod& pod) const {
        const api::Taint taint{std::string(api::taints::kDisrupted), "",
                               std::string(api::taints::kNoSchedule), std::nullopt};
        return tolerates(pod, taint) &&
               std::ranges::any_of(world_.view.all<NodeSmithClaim>(), [&pod](const auto& entry) {
                   const auto& status = entry.second->status;
                   const auto* drained = api::find_condition(status.conditions, api::conditions::kDrained);
                   return status.nodeName == pod.spec.nodeName && drained && drained->lastTransitionTime &&
                          pod.metadata.creationTimestamp >= drained->lastTransitionTime;
               });
    }

    std::map<std::string, base::TimePoint> failed_at_;  // time of the last failed eviction, by Node
    std::map<std::string, base::TimePoint> stays_;      // time since when a pod could have been evicted, by
                                                        // its UID
};

// Each pod is evicted once. The next pod of its controller may tolerate the taint and come back at once, as
// often as it is evicted.
class DrainsEvictOnce final : public Invariant {
public:
    explicit DrainsEvictOnce(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<api::Pod>([this](const api::Pod* before, const api::Pod* after) {
            const bool ends = before && after && !before->metadata.deletionTimestamp &&
                              after->metadata.deletionTimestamp && !after->spec.nodeName.empty();
            if (ends) count(*after);
        });
    }

private:
    // No controller of the simulation has so many pods on one node.
    static constexpr int kMost = 60;

    void count(const api::Pod& pod) {
        const auto* owner = api::controller_of(pod.metadata);
        if (!owner || belongs_to_node(pod)) return;
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) {
            const auto& conditions = claim->status.conditions;
            const auto* drained = api::find_condition(conditions, api::conditions::kDrained);
            if (claim->status.nodeName != pod.spec.nodeName || !drained || !drained->lastTransitionTime ||
                drained->status != api::ConditionStatus::False)
                continue;
            // A drain that was given up begins anew.
            const auto drain = claim->metadata.uid + drained->lastTransitionTime->str();
            if (++evictions_[{drain, owner->uid}] != kMost) continue;
            stage_.violate("a drain evicts each pod once", "pods of " + owner->name + " came back to node " +
                                                               pod.spec.nodeName + " and were evicted " +
                                                               std::to_string(kMost) + " times");
        }
    }

    std::map<std::pair<std::string, std::string>, int> evictions_;  // by drain and UID of the controller
};

}  // namespace

std::unique_ptr<Invariant> drains_evict_once(const Stage& stage) {
    return std::make_unique<DrainsEvictOnce>(stage);
}

std::unique_ptr<Invariant> drains_go_on(const Stage& stage) {
    return std::make_unique<DrainsGoOn>(stage);
}

}  // namespace simulation

// Tests a plan that the kube-scheduler does not know. The scheduler prefers nodes with the most room in
// proportion, and balances CPU and memory. That is its default scoring, as far as requests are concerned.
// Other tests nominate the pods for their machines. This is a quick substitute for test/component/scheduling,
// which uses the kube-scheduler itself. Source:
// k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources (least_allocated, balanced_allocation), and
// framework/runtime (RunFilterPluginsWithNominatedPods).
#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>
#include <set>

#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"
#include "test/unit/scheduling/checker_cluster.hpp"
#include "test/unit/scheduling/random_cluster.hpp"

namespace {

using checker::CheckedNode;
using scheduling::Availability;

constexpr std::uint64_t kWorkloads = 240;
constexpr std::uint64_t kSeedsPerFeature = 8;

// Returns the options of the workloads in test/component/scheduling.
random_cluster::Options options_for(std::uint64_t seed) {
    random_cluster::Options options;
    options.most_pods = 14;
    options.most_nodes = 4;
    const auto feature = seed / kSeedsPerFeature;
    if (feature < random_cluster::kFeatures)
        options.features = {static_cast<random_cluster::Feature>(feature)};
    return options;
}

class SchedulerAlone {
public:
    SchedulerAlone(const scheduling::Snapshot& snapshot, const scheduling::SolveResult& result,
                   std::uint64_t seed)
        : snapshot_(snapshot), result_(result), cluster_{snapshot, {}, {}}, random_(seed) {}

    // Nominates each pod for its planned node.
    void tell() { is_told_ = true; }

    // Returns how many of the pods with a planned place find none.
    std::size_t left_over() {
        for (const auto& node : snapshot_.nodes)
            if (node.availability == Availability::ready) add(node);
        std::set<const api::Pod*> promised;
        for (std::size_t i = 0; i < result_.placements.size(); ++i) {
            const auto& placement = result_.placements[i];
            if (i < result_.placed_now)
                take(*by_node_.at(snapshot_.nodes[*placement.node].node.get()), *placement.pod);
            else
                promised.insert(placement.pod);
        }
        for (const auto& node : snapshot_.nodes)
            if (node.availability != Availability::ready) add(node);
        launched_.reserve(result_.claims.size());
        for (std::size_t i = 0; i < result_.claims.size(); ++i) {
            auto& node = launched_.emplace_back(builders::coming_node(snapshot_, result_, i));
            auto& metadata = builders::edit(node).metadata;
            metadata.labels[std::string(api::labels::kHostname)] = metadata.name;
            add(node);
        }
        if (is_told_) note_promises();
        return place_all(queue_of(promised));
    }

private:
    void note_promises() {
        for (auto i = result_.placed_now; i < result_.placements.size(); ++i) {
            const auto& placement = result_.placements[i];
            const auto& node =
                placement.node ? snapshot_.nodes[*placement.node] : launched_[*placement.claim];
            promised_[placement.pod] = by_node_.at(node.node.get());
        }
    }

    // Returns the pods by priority, then by arrival.
    std::vector<const api::Pod*> queue_of(const std::set<const api::Pod*>& promised) const {
        std::vector<const api::Pod*> queue;
        for (int priority = 2; priority >= 0; --priority)
            for (const auto& pod : snapshot_.pods)
                if (promised.contains(pod.get()) && pod->spec.priority.value_or(0) == priority)
                    queue.push_back(pod.get());
        return queue;
    }

    // Places the pods. Refused pods are tried again after the others, and nominated again as long as that
    // helps.
    std::size_t place_all(std::vector<const api::Pod*> queue) {
        while (true) {
            nominated_ = promised_;
            const auto placed = std::erase_if(queue, [this](const api::Pod* pod) { return place(*pod); });
            if (placed > 0) continue;
            if (promised_.empty()) return queue.size();
            promised_.clear();
        }
    }

    // Reports whether the node also has room for the pod beside those that are nominated for it and are no
    // less important.
    bool takes(CheckedNode& node, const api::Pod& pod) {
        if (!checker::refusal(cluster_, node, pod).empty()) return false;
        const auto as_it_is = node;
        for (const auto& [other, its_node] : nominated_)
            if (its_node == &node && other != &pod &&
                other->spec.priority.value_or(0) >= pod.spec.priority.value_or(0))
                take(node, *other);
        const bool takes = checker::refusal(cluster_, node, pod).empty();
        node = as_it_is;
        return takes;
    }

    bool place(const api::Pod& pod) {
        const auto nominated = nominated_.find(&pod);
        CheckedNode* best = nullptr;
        double best_score = 0;
        if (nominated != nominated_.end() && takes(*nominated->second, pod))
            return bind(*nominated->second, pod);
        for (auto& node : cluster_.nodes) {
            if (!takes(node, pod)) continue;
            const auto score = score_of(node, pod);
            if (best && score <= best_score) continue;
            best = &node;
            best_score = score;
        }
        // The scheduler removes the nomination of a pod that it could not place.
        nominated_.erase(&pod);
        return best && bind(*best, pod);
    }

    bool bind(CheckedNode& node, const api::Pod& pod) {
        take(node, pod);
        nominated_.erase(&pod);
        promised_.erase(&pod);
        return true;
    }

    double score_of(CheckedNode& node, const api::Pod& pod) {
        const auto cpu = used_with(node, pod, "cpu");
        const auto memory = used_with(node, pod, "memory");
        const auto least_allocated = std::floor((2 - cpu - memory) * 50);
        const auto balanced = std::floor((1 - std::abs(cpu - memory) / 2) * 100);
        // The kube-scheduler chooses at random between equal nodes.
        return least_allocated + balanced + std::uniform_real_distribution<double>(0, 0.5)(random_);
    }

    double used_with(CheckedNode& node, const api::Pod& pod, const std::string& resource) {
        const auto all = static_cast<double>(capacity_.at(&node)[resource]);
        const auto free = static_cast<double>(node.free[resource]);
        const auto wanted = static_cast<double>(checker::requests_of(pod)[resource]);
        return all > 0 ? std::min(1.0, (all - free + wanted) / all) : 1;
    }

    void take(CheckedNode& node, const api::Pod& pod) {
        for (const auto& [name, amount] : checker::requests_of(pod)) node.free[name] -= amount;
        node.pods.push_back(&pod);
    }

    void add(const scheduling::NodeInfo& each) {
        auto& node = cluster_.nodes.emplace_back();
        by_node_[each.node.get()] = &node;
        node.name = each.node->metadata.name;
        node.labels = each.node->metadata.labels;
        node.taints = each.node->spec.taints;
        if (each.csi) node.volume_limit = *each.csi->spec.drivers.at(0).allocatable->count;
        for (const auto& [name, quantity] : each.node->status.allocatable) node.free[name] = quantity.milli();
        capacity_[&node] = node.free;
        for (const auto& pod : each.pods) take(node, *pod);
        for (const auto& set : snapshot_.daemon_sets) {
            api::Pod pod;
            pod.metadata.namespace_ = set->metadata.namespace_;
            pod.metadata.labels = set->spec.template_.metadata.labels;
            pod.spec = set->spec.template_.spec;
            const CheckedNode bare{node.name, node.labels, node.taints, checker::requests_of(pod),
                                   true,      {},          std::nullopt};
            if (checker::refusal({snapshot_, {}, {}}, bare, pod).empty())
                take(node, cluster_.made_pods.emplace_back(std::move(pod)));
        }
    }

    const scheduling::Snapshot& snapshot_;
    const scheduling::SolveResult& result_;
    checker::CheckedCluster cluster_;
    std::mt19937_64 random_;
    std::vector<scheduling::NodeInfo> launched_;
    std::map<const api::Node*, CheckedNode*> by_node_;
    std::map<const CheckedNode*, std::map<std::string, __int128>> capacity_;
    bool is_told_ = false;
    std::map<const api::Pod*, CheckedNode*> promised_;   // planned nodes of the waiting pods
    std::map<const api::Pod*, CheckedNode*> nominated_;  // nominations that the scheduler knows
};

struct Missed {
    std::size_t workloads = 0;
    std::string which;
};

Missed missed(bool is_told) {
    Missed missed;
    for (std::uint64_t seed = 0; seed < kWorkloads; ++seed) {
        const auto options = options_for(seed);
        const auto cluster = random_cluster::make(seed, options);
        const auto result = scheduling::solve(cluster);
        SchedulerAlone scheduler(cluster, result, seed);
        if (is_told) scheduler.tell();
        if (scheduler.left_over() == 0) continue;
        ++missed.workloads;
        missed.which += "\n" + std::to_string(seed) + ":";
        for (const auto feature : random_cluster::features_of(seed, options))
            missed.which += std::string(" ") + random_cluster::name_of(feature);
    }
    return missed;
}

}  // namespace

TEST_CASE("left to its own scoring the kube-scheduler rarely needs another machine") {
    const auto left = missed(false);
    INFO(left.workloads << " of " << kWorkloads << " workloads leave a pod over:" << left.which);
    // The aim is 2 %; docs/performance.md describes what the remaining workloads have in common.
    CHECK(left.workloads * 100 <= 8 * kWorkloads);
}

TEST_CASE("told whom the machines are for the kube-scheduler hardly ever needs another") {
    const auto left = missed(true);
    INFO(left.workloads << " of " << kWorkloads << " workloads leave a pod over:" << left.which);
    CHECK(left.workloads * 100 <= 1 * kWorkloads);
}

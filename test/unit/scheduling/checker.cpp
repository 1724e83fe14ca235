#include "test/unit/scheduling/checker.hpp"

#include <algorithm>
#include <set>

#include "api/names.hpp"
#include "test/unit/scheduling/checker_cluster.hpp"

namespace checker {

namespace {

using scheduling::Availability;

constexpr std::int64_t kMilli = 1000;
constexpr std::int64_t kMiB = 1024 * 1024;

bool is_ours_until_ready(const api::Taint& taint) {
    return taint.key == api::taints::kNotReady || taint.key == api::taints::kUninitialized ||
           taint.key == api::taints::kUnregistered || taint.key == api::taints::kUnreachable;
}

class Judge {
public:
    Judge(const scheduling::Snapshot& snapshot, const scheduling::SolveResult& result)
        : snapshot_(snapshot), result_(result), cluster_{snapshot, {}, {}} {}

    std::vector<std::string> run() {
        add_nodes();
        for (std::size_t i = 0; i < result_.placements.size(); ++i) {
            if (i == result_.placed_now) add_machines();
            check(result_.placements[i]);
        }
        if (claim_nodes_.empty()) add_machines();
        check_everybody_is_answered();
        check_refused_pods();
        check_claims();
        return found_;
    }

private:
    void complain(const std::string& text) { found_.push_back(text); }

    void take(CheckedNode& node, const api::Pod& pod) {
        for (const auto& [name, amount] : requests_of(pod)) node.free[name] -= amount;
        node.pods.push_back(&pod);
    }

    void add_nodes() {
        for (const auto& each : snapshot_.nodes) {
            auto& node = nodes_.emplace_back(nullptr);
            if (each.availability == Availability::leaving) continue;
            node = &cluster_.nodes.emplace_back();
            node->name = each.node->metadata.name;
            node->labels = each.node->metadata.labels;
            if (each.csi)
                node->volume_limit = *each.csi->spec.drivers.at(0).allocatable->count;
            else if (each.pool && (each.availability == Availability::coming || each.is_settling))
                node->volume_limit = limit_of_new(*each.pool);
            for (const auto& [name, quantity] : each.node->status.allocatable)
                node->free[name] = quantity.milli();
            for (const auto& taint : each.node->spec.taints) {
                const bool is_startup = std::any_of(
                    each.startup_taints.begin(), each.startup_taints.end(), [&](const auto& other) {
                        return other.key == taint.key && other.effect == taint.effect;
                    });
                if (each.availability == Availability::coming && (is_startup || is_ours_until_ready(taint)))
                    continue;
                node->taints.push_back(taint);
            }
            for (const auto& pod : each.pods)
                if (pod->status.phase != api::PodPhase::Succeeded &&
                    pod->status.phase != api::PodPhase::Failed)
                    take(*node, *pod);
            add_daemons(*node, each.pods);
        }
    }

    // Returns how many volumes the youngest node of the pool can attach.
    std::optional<std::int64_t> limit_of_new(std::size_t pool) const {
        std::optional<std::pair<api::Time, std::int64_t>> youngest;
        for (const auto& each : snapshot_.nodes) {
            if (each.pool != pool || !each.csi) continue;
            const std::int64_t count = *each.csi->spec.drivers.at(0).allocatable->count;
            const std::pair shown(each.node->metadata.creationTimestamp.value_or(api::Time()), -count);
            youngest = youngest ? std::max(*youngest, shown) : shown;
        }
        return youngest ? std::optional(-youngest->second) : std::nullopt;
    }

    void add_daemons(CheckedNode& node, const std::vector<std::shared_ptr<const api::Pod>>& present) {
        for (const auto& set : snapshot_.daemon_sets) {
            const bool is_there = std::any_of(present.begin(), present.end(), [&](const auto& pod) {
                const auto* owner = api::controller_of(pod->metadata);
                return owner && owner->uid == set->metadata.uid;
            });
            if (is_there) continue;
            api::Pod pod;
            pod.metadata.name = set->metadata.name + "-on-" + node.name;
            pod.metadata.namespace_ = set->metadata.namespace_;
            pod.metadata.labels = set->spec.template_.metadata.labels;
            pod.spec = set->spec.template_.spec;
            CheckedNode bare{node.name, node.labels, node.taints, requests_of(pod), true, {}};
            const CheckedCluster empty{snapshot_, {}, {}};
            // A pod that does not fit stays without a node, and uses no resources.
            const bool fits = std::ranges::all_of(bare.free, [&node](const auto& wanted) {
                const auto free = node.free.find(wanted.first);
                return wanted.second <= (free == node.free.end() ? 0 : free->second);
            });
            if (fits && refusal(empty, bare, pod).empty())
                take(node, cluster_.made_pods.emplace_back(std::move(pod)));
        }
    }

    // Adds the machines of the solve. They come simultaneously, so pods that wait for one machine see all of
    // them.
    void add_machines() {
        for (std::size_t i = 0; i < result_.claims.size(); ++i) claim_nodes_.push_back(&node_of_claim(i));
    }

    // Adds the machine of a claim, where the solve found room for it.
    CheckedNode& node_of_claim(std::size_t index) {
        const auto& claim = result_.claims[index];
        const auto& pool = snapshot_.pools[claim.pool];
        auto& node = cluster_.nodes.emplace_back();
        node.name = "machine-" + std::to_string(index);
        node.labels = pool.labels;
        for (const auto& place : pool.places)
            if (place.place == claim.place)
                for (const auto& [key, value] : place.labels) node.labels[key] = value;
        node.labels[std::string(api::labels::kHostname)] = node.name;
        node.taints = pool.taints;
        node.volume_limit = limit_of_new(claim.pool);
        node.limits_everything = false;
        std::int64_t pods = pool.pods_per_node;
        for (const auto& shape : pool.shapes)
            if (shape.name == claim.shape) pods = shape.pods;
        for (const auto& [name, quantity] : pool.extended_resources) node.free[name] = quantity.milli();
        node.free["cpu"] = claim.cpu_cores * kMilli - pool.reserved.cpuMillicores;
        node.free["memory"] = __int128{claim.memory_mib - pool.reserved.memoryMiB} * kMiB * kMilli;
        node.free["pods"] = pods * kMilli;
        constexpr std::int64_t kEnough = std::int64_t{1} << 40;
        node.free["ephemeral-storage"] =
            __int128{pool.ephemeral_storage_mib.value_or(kEnough)} * kMiB * kMilli;
        add_daemons(node, {});
        return node;
    }

    void check(const scheduling::PodPlacement& placement) {
        const auto& name = placement.pod->metadata.name;
        if (!placed_.insert(placement.pod).second) complain("pod " + name + " is placed twice");
        if (placement.node.has_value() == placement.claim.has_value())
            return complain("pod " + name + " has no place, or two");
        auto* node = placement.node ? nodes_[*placement.node] : claim_nodes_[*placement.claim];
        if (!node) return complain("pod " + name + " is placed on a leaving node");
        const auto why_not = refusal(cluster_, *node, *placement.pod);
        if (!why_not.empty()) complain("pod " + name + ": " + node->name + " " + why_not);
        take(*node, *placement.pod);
    }

    void check_everybody_is_answered() {
        for (const auto& each : result_.unplaced) {
            if (!placed_.insert(each.pod).second)
                complain("pod " + each.pod->metadata.name + " is placed and refused");
            if (each.reasons.empty()) complain("pod " + each.pod->metadata.name + " gets no reason");
        }
        for (const auto& pod : snapshot_.pods)
            if (!placed_.contains(pod.get())) complain("pod " + pod->metadata.name + " is forgotten");
    }

    // Checks that a refused pod fits on no node in the final state.
    void check_refused_pods() {
        for (const auto& each : result_.unplaced)
            for (std::size_t i = 0; i < nodes_.size(); ++i)
                if (nodes_[i] && snapshot_.nodes[i].availability == Availability::ready &&
                    refusal(cluster_, *nodes_[i], *each.pod).empty())
                    complain("pod " + each.pod->metadata.name + " is refused, but fits on " +
                             nodes_[i]->name);
    }

    void check_claims() {
        std::map<std::size_t, scheduling::Budget> spent;
        std::map<std::size_t, scheduling::Place> used;
        for (const auto& claim : result_.claims) {
            const auto& pool = snapshot_.pools[claim.pool];
            if (!pool.closed.empty()) complain("launched from a closed pool");
            if (claim.pods.empty() && claim.reason.empty()) complain("launched for nothing");
            check_size(pool, claim);
            check_place(snapshot_.places[claim.place], claim);
            for (const auto budget : pool.budgets) {
                spent[budget].nodes = spent[budget].nodes.value_or(0) + 1;
                spent[budget].cpu_cores = spent[budget].cpu_cores.value_or(0) + claim.cpu_cores;
                spent[budget].memory_mib = spent[budget].memory_mib.value_or(0) + claim.memory_mib;
            }
            auto& place = used[claim.place];
            place.free_machines = place.free_machines.value_or(0) + 1;
            place.free_cpu_cores = place.free_cpu_cores.value_or(0) + claim.cpu_cores;
            place.free_memory_mib = place.free_memory_mib.value_or(0) + claim.memory_mib;
        }
        const auto over = [](const auto& used_up, const auto& limit) { return limit && *used_up > *limit; };
        for (const auto& [index, sum] : spent) {
            const auto& limit = snapshot_.budgets[index];
            if (over(sum.nodes, limit.nodes) || over(sum.cpu_cores, limit.cpu_cores) ||
                over(sum.memory_mib, limit.memory_mib))
                complain("budget " + limit.name + " is exceeded");
        }
        for (const auto& [index, sum] : used) {
            const auto& limit = snapshot_.places[index];
            if (over(sum.free_machines, limit.free_machines) ||
                over(sum.free_cpu_cores, limit.free_cpu_cores) ||
                over(sum.free_memory_mib, limit.free_memory_mib))
                complain("place " + limit.name + " is overbooked");
        }
    }

    // Checks that no machine is larger than its host, however much the host promises.
    void check_place(const scheduling::Place& place, const scheduling::NewClaim& claim) {
        const auto& largest = place.largest;
        if (largest && (claim.cpu_cores > largest->cpu_cores || claim.memory_mib > largest->memory_mib))
            complain("a machine is larger than " + place.name + " can give");
        for (const auto& refused : place.refused)
            if (claim.cpu_cores >= refused.cpu_cores && claim.memory_mib >= refused.memory_mib)
                complain("a machine is asked for that found no room at " + place.name);
    }

    void check_size(const scheduling::Pool& pool, const scheduling::NewClaim& claim) {
        if (pool.shapes.empty()) {
            const auto fits = [](std::int64_t value, const auto& range) {
                return value >= range.min && value <= range.max &&
                       ((value - range.min) % range.step == 0 || value == range.max);
            };
            if (!fits(claim.cpu_cores, pool.flexible.cpuCores) ||
                !fits(claim.memory_mib, pool.flexible.memoryMiB))
                complain("a machine has a size that the pool does not allow");
            return;
        }
        const bool known = std::any_of(pool.shapes.begin(), pool.shapes.end(), [&](const auto& shape) {
            return shape.name == claim.shape && shape.cpu_cores == claim.cpu_cores &&
                   shape.memory_mib == claim.memory_mib;
        });
        if (!known) complain("a machine has a shape that the pool does not offer");
    }

    const scheduling::Snapshot& snapshot_;
    const scheduling::SolveResult& result_;
    CheckedCluster cluster_;
    std::vector<CheckedNode*> nodes_;  // by index in the snapshot
    std::vector<CheckedNode*> claim_nodes_;
    std::set<const api::Pod*> placed_;
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> violations(const scheduling::Snapshot& snapshot,
                                    const scheduling::SolveResult& result) {
    return Judge(snapshot, result).run();
}

}  // namespace checker

// Invariant 23: the operator writes nothing of a waiting pod but status.nominatedNodeName. It names only
// Nodes of machines that were launched for that pod, and only if the server and its users accept it. It
// nominates no more pods for a Node than the Node has room for. In the end no pod still waits for a Node for
// which it was nominated.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "controllers/provisioning/facts/claim_factory.hpp"
#include "test/simulation/cluster/scheduler.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

// These faults keep the operator for a moment from seeing the present state, or from writing.
constexpr std::array kOfOperator{
    Fault::api_refused,     Fault::api_answer_lost, Fault::api_throttled,
    Fault::api_conflict,    Fault::api_slow,        Fault::watch_dropped,
    Fault::watch_stale,     Fault::watch_stalled,   Fault::killed_at_request,
    Fault::killed,          Fault::paused,          Fault::second_operator,
    Fault::api_unreachable, Fault::clock_jump,      Fault::history_compacted,
    Fault::etcd_restored,
};
// Another pod may take the room at any moment.
constexpr std::chrono::seconds kTakenBackWithin{10};

class NominationsAreOfOurMachines final : public Invariant {
public:
    explicit NominationsAreOfOurMachines(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithClaim>([this](const NodeSmithClaim*, const NodeSmithClaim* after) {
            if (!after || after->status.nodeName.empty()) return;
            for (auto& uid : controllers::provisioning::launched_for(*after))
                promised_[after->status.nodeName].insert(std::move(uid));
        });
        world_.view.subscribe<api::Pod>([this](const api::Pod* before, const api::Pod* after) {
            if (before && after && before->metadata.uid == after->metadata.uid) compare(*before, *after);
        });
    }

    void each_second() override {
        std::map<std::string, base::TimePoint> overfull;
        for (const auto& [node, what] : is_operator_in_trouble() ? Lacks() : lacking()) {
            const auto since = overfull_.contains(node) ? overfull_.at(node) : world_.now();
            overfull[node] = since;
            if (since + kTakenBackWithin < world_.now())
                stage_.violate(kName, "more pods are told of Node " + node + " than it holds: " + what);
        }
        overfull_ = std::move(overfull);
    }

    Findings at_rest() const override {
        Findings findings;
        for (const auto& [key, pod] : world_.view.all<api::Pod>()) {
            const auto& node = pod->status.nominatedNodeName;
            if (!is_alive(*pod) || !pod->spec.nodeName.empty() || node.empty()) continue;
            findings.push_back({kName, "pod " + key.str() + " waits and is still told of Node " + node});
        }
        return findings;
    }

private:
    static constexpr const char* kName = "nominations are of our machines";

    bool is_operator_in_trouble() const {
        const auto processes = stage_.operators.alive();
        const bool may_write = std::ranges::all_of(
            world_.view.all<NodeSmithControlPlane>(),
            [](const auto& entry) { return entry.second->spec.mode == api::v1alpha1::Mode::Active; });
        return processes.empty() || !may_write ||
               std::ranges::any_of(kOfOperator,
                                   [this](Fault fault) { return world_.faults.recent(fault); }) ||
               std::ranges::any_of(processes, [this](const Process* process) {
                   return process->paused() || world_.network.is_cut_off(*process);
               });
    }

    using Lacks = std::map<std::string, std::string>;
    // Returns by Node what it lacks for the pods that are nominated for it, beside the pods on it. A Node on
    // which a pod is ending does not count, since the scheduler may be making room there.
    Lacks lacking() const {
        std::map<std::string, api::ResourceList> wanted;
        for (const auto& [key, pod] : world_.view.all<api::Pod>()) {
            const auto& node = pod->status.nominatedNodeName;
            if (node.empty() || !pod->spec.nodeName.empty() || !is_alive(*pod)) continue;
            for (const auto& [name, amount] : requests_of(*pod)) wanted[node][name] += amount;
        }
        Lacks result;
        if (wanted.empty()) return result;
        for (const auto& candidate : candidates(world_.view)) {
            const auto& node = candidate.node->metadata.name;
            const auto found = wanted.find(node);
            if (found == wanted.end() || std::ranges::any_of(candidate.pods, [](const api::Pod* pod) {
                    return pod->metadata.deletionTimestamp.has_value();
                }))
                continue;
            if (auto what = lacks(candidate.free, found->second)) result[node] = *what;
        }
        return result;
    }

    // Only the operator nominates here. The scheduler removes nominations, whether it binds the pod or not.
    void compare(const api::Pod& before, const api::Pod& after) {
        const auto& node = after.status.nominatedNodeName;
        if (node == before.status.nominatedNodeName || node.empty()) return;
        const auto about = "pod " + api::key_of(after).str() + " is told of Node '" + node + "'";
        auto same = after;
        same.status.nominatedNodeName = before.status.nominatedNodeName;
        same.metadata.resourceVersion = before.metadata.resourceVersion;
        if (!(same == before)) stage_.violate(kName, about + ", and more of it is changed");
        const bool is_served = world_.server.options().minor >= kFirstMinor;
        if (!is_served || !world_.scenario.control_plane.spec.nominate)
            stage_.violate(kName, about + ", although that is off");
        const auto promised = promised_.find(node);
        if (promised == promised_.end() || !promised->second.contains(after.metadata.uid))
            stage_.violate(kName, about + ", and none of ours was launched for it");
        if (!before.spec.nodeName.empty()) stage_.violate(kName, about + ", and is on one");
    }

    // Minor version of the first Kubernetes that accepts nominations (KEP-5278).
    static constexpr int kFirstMinor = 35;
    std::map<std::string, std::set<std::string>> promised_;  // UIDs of the pods that each Node was launched
                                                             // for
    std::map<std::string, base::TimePoint> overfull_;  // time since when too many pods are nominated for a
                                                       // Node
};

}  // namespace

std::unique_ptr<Invariant> nominations_are_of_our_machines(const Stage& stage) {
    return std::make_unique<NominationsAreOfOurMachines>(stage);
}

}  // namespace simulation

// Invariant 23: of a waiting pod the operator writes status.nominatedNodeName and nothing else, names only
// Nodes of machines that were bought for that pod, where the server takes it and its users want it, and in
// the end nobody is left waiting for a Node that he was told of.
#include <map>
#include <set>
#include <string>

#include "controllers/state/claim_factory.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class NominationsAreOfOurMachines final : public Invariant {
public:
    explicit NominationsAreOfOurMachines(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithClaim>([this](const NodeSmithClaim*, const NodeSmithClaim* after) {
            if (!after || after->status.nodeName.empty()) return;
            for (auto& uid : controllers::provisioning::bought_for(*after))
                promised_[after->status.nodeName].insert(std::move(uid));
        });
        world_.view.subscribe<api::Pod>([this](const api::Pod* before, const api::Pod* after) {
            if (before && after && before->metadata.uid == after->metadata.uid) compare(*before, *after);
        });
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

    // Nobody but the operator nominates here. The scheduler takes nominations off, whether it binds or not.
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
            stage_.violate(kName, about + ", and none of ours was bought for it");
        if (!before.spec.nodeName.empty()) stage_.violate(kName, about + ", and is on one");
    }

    // Of Kubernetes 1.x: KEP-5278.
    static constexpr int kFirstMinor = 35;
    std::map<std::string, std::set<std::string>> promised_;  // UIDs of pods by Node
};

}  // namespace

std::unique_ptr<Invariant> nominations_are_of_our_machines(const Stage& stage) {
    return std::make_unique<NominationsAreOfOurMachines>(stage);
}

}  // namespace simulation

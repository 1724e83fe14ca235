// Invariant 20: the operator changes no Node that is not one of our machines, whatever any status says.
#include <set>
#include <string>

#include "test/simulation/forgers.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class StrangersAreLeftAlone final : public Invariant {
public:
    explicit StrangersAreLeftAlone(const Stage& stage) : Invariant(stage) {
        world_.observe([this](const Process&, const base::HttpRequest& request, const base::HttpResponse&) {
            if (request.method != "GET" && names_.contains(node_in(request.target)))
                stage_.violate(kName, request.method + " " + request.target);
        });
        // One of our machines may get the name of a stranger's Node that somebody deleted.
        world_.view.subscribe<api::Node>([this](const api::Node*, const api::Node* node) {
            if (!node) return;
            if (is_stranger(*node))
                names_.insert(node->metadata.name);
            else
                names_.erase(node->metadata.name);
        });
        world_.server.observe([this](const fake::Change& change) {
            if (!change.after ||
                change.key.resource != fake::ApiServer::resource_name(NodeSmithClaim::kResource))
                return;
            const auto claim = api::decode<NodeSmithClaim>(change.after->value());
            // The name is free once that Node is gone.
            const auto* node = world_.view.find<api::Node>({"", claim.metadata.name});
            const bool is_taken = node && is_stranger(*node);
            if (is_taken && bears_name_of_stranger(claim) && !claim.status.bootstrapTokenID.empty())
                stage_.violate(kName, "a token is made for claim " + claim.metadata.name +
                                          ", whose name is a stranger's");
        });
    }

    // No stranger's Node may bring a claim into service.
    Findings at_rest() const override {
        Findings findings;
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) {
            const auto* node = world_.view.find<api::Node>({"", claim->status.nodeName});
            const bool is_deceived =
                node && is_stranger(*node) && api::is_true(claim->status.conditions, api::conditions::kReady);
            if (is_deceived)
                findings.push_back({kName, "claim " + key.name + " is Ready by Node " + node->metadata.name});
        }
        return findings;
    }

private:
    static std::string node_in(const std::string& target) {
        static const std::string kNodes = "/api/v1/nodes/";
        if (!target.starts_with(kNodes)) return {};
        const auto rest = target.substr(kNodes.size());
        return rest.substr(0, rest.find_first_of("/?"));
    }

    static constexpr const char* kName = "strangers are left alone";
    std::set<std::string> names_;  // names of strangers' Nodes, including deleted ones
};

}  // namespace

std::unique_ptr<Invariant> strangers_are_left_alone(const Stage& stage) {
    return std::make_unique<StrangersAreLeftAlone>(stage);
}

}  // namespace simulation

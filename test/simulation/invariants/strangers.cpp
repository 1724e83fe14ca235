// Invariant 20: no Node that is not a machine of ours is touched, whatever stands in whose status.
#include "test/simulation/forgers.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class StrangersAreLeftAlone final : public Invariant {
public:
    explicit StrangersAreLeftAlone(const Stage& stage) : Invariant(stage) {
        world_.observe([this](const Process&, const base::HttpRequest& request, const base::HttpResponse&) {
            if (request.method != "GET" && request.target.find("/nodes/stranger-") != std::string::npos)
                stage_.violate(kName, request.method + " " + request.target);
        });
        world_.server.observe([this](const fake::Change& change) {
            if (!change.after ||
                change.key.resource != fake::ApiServer::resource_name(NodeSmithClaim::kResource))
                return;
            const auto claim = api::decode<NodeSmithClaim>(change.after->value());
            // Once that Node is gone its name is free.
            const auto* node = world_.view.find<api::Node>({"", claim.metadata.name});
            const bool is_taken = node && is_stranger(*node);
            if (is_taken && bears_name_of_stranger(claim) && !claim.status.bootstrapTokenID.empty())
                stage_.violate(kName, "a token is made for claim " + claim.metadata.name +
                                          ", whose name is a stranger's");
        });
    }

    // Nor has any of them brought a claim into service.
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
    static constexpr const char* kName = "strangers are left alone";
};

}  // namespace

std::unique_ptr<Invariant> strangers_are_left_alone(const Stage& stage) {
    return std::make_unique<StrangersAreLeftAlone>(stage);
}

}  // namespace simulation

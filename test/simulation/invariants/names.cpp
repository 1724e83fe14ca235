// Invariant 22: no claim is launched under the name of a Node that serves. Its machine could not join beside
// that Node, and would get the data that is kept for that Node.
#include <map>

#include "controllers/limits/limits.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class NamesAreFree final : public Invariant {
public:
    explicit NamesAreFree(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<api::Node>([this](const api::Node* before, const api::Node* after) {
            if (!before && after) born_[after->metadata.name] = world_.now();
            if (!after && before) born_.erase(before->metadata.name);
        });
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (!before && after) check(*after);
            });
    }

private:
    // Some operator may not know a younger Node yet.
    void check(const NodeSmithClaim& claim) {
        const auto node = born_.find(claim.metadata.name);
        if (node == born_.end() || world_.now() - node->second < kInFlight) return;
        if (controllers::limits::is_created_by_pool(claim))
            stage_.violate("names are free", "claim " + claim.metadata.name +
                                                 " is launched although a Node of that name is there");
    }

    std::map<std::string, base::TimePoint> born_;
};

}  // namespace

std::unique_ptr<Invariant> names_are_free(const Stage& stage) {
    return std::make_unique<NamesAreFree>(stage);
}

}  // namespace simulation

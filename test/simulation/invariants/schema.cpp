// A real API server would accept every write of the operator. The server in memory does not check schemas.
#include "test/simulation/schema.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class WritesFitTheirSchemas final : public Invariant {
public:
    explicit WritesFitTheirSchemas(const Stage& stage) : Invariant(stage) {
        world_.server.observe([this](const fake::Change& change) { check(change); });
    }

private:
    void check(const fake::Change& change) {
        const auto dot = change.key.resource.find('.');
        const bool is_ours = dot != std::string::npos && change.key.resource.substr(dot + 1) ==
                                                             api::v1alpha1::NodeSmithPool::kResource.group;
        if (!is_ours || !change.after || !world_.network.acting()) return;
        const auto plural = change.key.resource.substr(0, dot);
        const auto fault = Schema::of(plural).fault_of(change.after->object());
        // A person wrote that value (odd_objects.hpp).
        if (fault.empty() || fault.find("\"Rebase\"") != std::string::npos) return;
        stage_.violate("writes fit their schemas", plural + " " + change.key.name + ": " + fault);
    }
};

}  // namespace

std::unique_ptr<Invariant> writes_fit_their_schemas(const Stage& stage) {
    return std::make_unique<WritesFitTheirSchemas>(stage);
}

}  // namespace simulation

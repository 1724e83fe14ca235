// The shipped roles grant what the operator requests, because each refusal would leave some work undone for
// ever.
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class RolesSuffice final : public Invariant {
public:
    using Invariant::Invariant;
    void each_second() override {
        const auto& missing = world_.authorization.missing();
        if (missing.size() == reported_) return;
        reported_ = missing.size();
        stage_.violate("roles suffice", "config/rbac/role.yaml lacks: " + missing.begin()->text());
    }

private:
    std::size_t reported_ = 0;
};

}  // namespace

std::unique_ptr<Invariant> roles_suffice(const Stage& stage) {
    return std::make_unique<RolesSuffice>(stage);
}

}  // namespace simulation

// The operator of a copied control plane destroys nothing.
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class CopiesDestroyNothing final : public Invariant {
public:
    using Invariant::Invariant;

    void each_second() override {
        const auto& destroyed = world_.interference.destroyed_by_copies;
        if (destroyed.empty() || is_violated_) return;
        is_violated_ = true;
        stage_.violate("a copy destroys nothing",
                       "the operator of a copy of the control plane did " + destroyed.front());
    }

private:
    bool is_violated_ = false;
};

}  // namespace

std::unique_ptr<Invariant> copies_destroy_nothing(const Stage& stage) {
    return std::make_unique<CopiesDestroyNothing>(stage);
}

}  // namespace simulation

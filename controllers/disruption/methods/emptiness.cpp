#include "controllers/disruption/methods/emptiness.hpp"

namespace controllers::disruption {

Candidacy Emptiness::find(const NodeFacts& facts, api::Time) const {
    const bool may_go = facts.pool.spec.scaleDown.policy != api::v1alpha1::ScaleDownPolicy::Never;
    return {facts.empty_since && may_go ? "the node is empty" : "", std::nullopt};
}

}  // namespace controllers::disruption

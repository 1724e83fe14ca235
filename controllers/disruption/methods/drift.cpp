#include "controllers/disruption/methods/drift.hpp"

namespace controllers::disruption {

Candidacy Drift::find(const NodeFacts& facts, api::Time) const {
    const bool counts = facts.pool.spec.disruption.drift == api::v1alpha1::DriftPolicy::Replace;
    return {counts ? facts.drift : "", std::nullopt};
}

}  // namespace controllers::disruption

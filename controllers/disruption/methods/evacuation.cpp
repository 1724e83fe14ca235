#include "controllers/disruption/methods/evacuation.hpp"

namespace controllers::disruption {

Candidacy Evacuation::find(const NodeFacts& facts, api::Time) const {
    return {facts.evacuated, std::nullopt};
}

}  // namespace controllers::disruption

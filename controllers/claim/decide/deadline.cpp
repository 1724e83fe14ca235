#include "controllers/claim/decide/deadline.hpp"

#include <algorithm>

#include "controllers/claim/facts/claim_state.hpp"

namespace controllers::claim {

api::Time deadline(const Situation& s, api::Time began, api::Duration timeout) {
    const auto least = std::min<base::Duration>(timeout.value, kCatchesUp);
    return std::max(later(began, timeout), later(s.leads_since, api::Duration(least)));
}

}  // namespace controllers::claim

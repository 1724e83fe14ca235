// The status page: what the operator sees and does, as one read-only HTML document with SVG; no script,
// nothing loaded from elsewhere, and of a bounded size whatever the cluster holds.
#pragma once

#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/state/blocker.hpp"
#include "operator/status_page/decision_log.hpp"

namespace kubenodesmith::status_page {

// A node that could leave, and why it stays.
struct Stay {
    std::string node;
    controllers::disruption::Kind kind = controllers::disruption::Kind::Empty;
    controllers::disruption::Blocker blocker;
};

struct Facts {
    const controllers::Informers& informers;
    std::vector<Stay> stays;
    const DecisionLog& decisions;
    std::string version;
    bool leading = false;
    api::Time now;
};

std::string page(const Facts& facts);

}  // namespace kubenodesmith::status_page

// Returns the operator's knowledge as one JSON document (/debug/state), for people who investigate.
#pragma once

#include <string>

#include "report/cluster_report.hpp"

namespace kubenodesmith {

std::string debug_state(const report::ClusterReport& report);

}  // namespace kubenodesmith

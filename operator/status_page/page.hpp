// The status page: the operator's knowledge and actions as one read-only HTML document with SVG. It has no
// script, loads nothing, and has a limited size for any cluster.
#pragma once

#include <string>

#include "operator/status_page/decision_log.hpp"
#include "report/cluster_report.hpp"

namespace kubenodesmith::status_page {

std::string page(const report::ClusterReport& report, const DecisionLog& decisions,
                 const std::string& version);

}  // namespace kubenodesmith::status_page

// The status page: what the operator sees and does, as one read-only HTML document with SVG; no script,
// nothing loaded from elsewhere, and of a bounded size whatever the cluster holds.
#pragma once

#include <string>

#include "operator/status_page/decision_log.hpp"
#include "report/cluster_report.hpp"

namespace kubenodesmith::status_page {

std::string page(const report::ClusterReport& report, const DecisionLog& decisions,
                 const std::string& version);

}  // namespace kubenodesmith::status_page

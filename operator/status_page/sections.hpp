// The parts of the status page, each a <section>.
#pragma once

#include <optional>

#include "operator/status_page/html.hpp"
#include "operator/status_page/page.hpp"

namespace kubenodesmith::status_page {

using report::ClusterReport;

Html waiting_pods(const ClusterReport& report);
Html pools(const ClusterReport& report);
Html hosts(const ClusterReport& report);
Html claims(const ClusterReport& report);
Html nodes_that_stay(const ClusterReport& report);
Html recent_decisions(const DecisionLog& log, api::Time now);

// ---- shared helpers
// Returns, for example, "12 s", "3 min 20 s", "5 h 10 min", "12 d".
Html duration(std::chrono::seconds value);
Html ago(std::optional<api::Time> when, api::Time now);
// Returns, for example, "and 12 more" if there are more than are shown.
Html and_more(std::size_t all, std::size_t shown);
// Returns, for example, "8Gi" or "1536Mi".
Html memory(std::int64_t mib);
// Returns a table cell with the condition Ready, and its message if it is not True.
Html readiness(const api::Conditions& conditions);

}  // namespace kubenodesmith::status_page

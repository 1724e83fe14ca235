// The document of the status page: a snapshot of the cluster as JSON. It has a limited size for any cluster
// and no secrets: objects refer to them and never contain copies. docs/metrics.md describes its fields.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "operator/status_page/decision_log.hpp"
#include "report/cluster_report.hpp"
#include "report/history.hpp"

namespace kubenodesmith::status_page {

struct Knowledge {
    const report::ClusterReport& report;
    const report::History& history;
    std::string program;               // its name and version
    std::vector<std::string> notes;    // what the reader must know besides troubles
    bool has_nodes = true;             // nodes and pods were read
    const DecisionLog* log = nullptr;  // null: it is not the operator that makes the document
};

boost::json::object document_of(const Knowledge& known);

}  // namespace kubenodesmith::status_page

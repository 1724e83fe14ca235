// Finds problems in a cluster from conditions, failures and pending pods, for `status`, `check` and the
// status page. Each cause is one trouble.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/cluster_report.hpp"

namespace report {

struct Trouble {
    std::string kind;  // for example "provider"; "pod" for pending pods
    std::vector<api::ObjectKey> objects;
    std::string reason;
    std::string message;
    std::optional<api::Time> since;
};

// Returns the troubles. Those of providers are first, as they cause the others. An empty `namespace_` means
// all namespaces.
std::vector<Trouble> troubles_of(const ClusterReport& report, const std::string& namespace_ = {});
// Returns, for example, "provider lab/pve: MissingPrivileges: ... (since 5 min)".
std::string sentence_of(const Trouble& trouble, api::Time now);

}  // namespace report

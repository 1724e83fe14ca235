// What is wrong in a cluster now, from conditions, failures and waiting pods: one line for each cause.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/cluster_report.hpp"

namespace kubenodesmith {

struct Trouble {
    std::string kind;  // "provider"; "pod" of those that wait
    std::vector<api::ObjectKey> objects;
    std::string reason;
    std::string message;
    std::optional<api::Time> since;
};

// Those of providers first, as they cause the others. `namespace_` empty: of all namespaces.
std::vector<Trouble> troubles_of(const report::ClusterReport& report, const std::string& namespace_ = {});
// "provider lab/pve: MissingPrivileges: ... (since 5 min)".
std::string sentence_of(const Trouble& trouble, api::Time now);
// "5 min", "3 h", "2 d"; empty: not known.
std::string age(std::optional<api::Time> since, api::Time now);

}  // namespace kubenodesmith

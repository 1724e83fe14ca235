// kubenodesmith status: shows problems, and one line for each of KubeNodeSmith's objects.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "operator/command_line/client_options.hpp"
#include "operator/plan/cluster_snapshot.hpp"

namespace kubenodesmith {

// An empty `namespace_` means all namespaces.
std::string status_text(const ClusterSnapshot& view, const std::string& namespace_);
boost::json::object status_document(const ClusterSnapshot& view, const std::string& namespace_);

void add_status_command(CLI::App& app, ClientOptions& options, Command& chosen);

}  // namespace kubenodesmith

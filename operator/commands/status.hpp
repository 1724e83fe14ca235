// kubenodesmith status: what is wrong, and every object of KubeNodeSmith on a line of its own.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "operator/command_line/client_options.hpp"
#include "operator/plan/cluster_snapshot.hpp"

namespace kubenodesmith {

// `namespace_` empty: of all namespaces.
std::string status_text(const ClusterSnapshot& view, const std::string& namespace_);
boost::json::object status_document(const ClusterSnapshot& view, const std::string& namespace_);

void add_status_command(CLI::App& app, ClientOptions& options, Command& chosen);

}  // namespace kubenodesmith

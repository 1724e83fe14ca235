// kubenodesmith top: shows price and use of pools' nodes, and free resources of hosts.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "operator/command_line/client_options.hpp"
#include "operator/plan/cluster_snapshot.hpp"

namespace kubenodesmith {

std::string top_text(ClusterSnapshot& view, const std::string& namespace_);
boost::json::object top_document(ClusterSnapshot& view, const std::string& namespace_);

void add_top_command(CLI::App& app, ClientOptions& options, Command& chosen);

}  // namespace kubenodesmith

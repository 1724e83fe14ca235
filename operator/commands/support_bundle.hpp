// kubenodesmith support-bundle: collects data with which others can find a problem, without secrets.
#pragma once

#include <string>

#include "operator/command_line/client_options.hpp"
#include "operator/command_line/cluster_session.hpp"
#include "operator/plan/cluster_snapshot.hpp"

namespace kubenodesmith {

void add_support_bundle_command(CLI::App& app, ClientOptions& options, Command& chosen,
                                const std::string& version);

// Returns the archive. Its README lists parts that could not be read.
std::string make_support_bundle(ClusterSession& session, ClusterSnapshot& view, const std::string& version);

}  // namespace kubenodesmith

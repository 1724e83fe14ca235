// How a machine joins a K3s cluster as an agent. Experimental: not proven against a K3s server by us.
#pragma once

#include "bootstrap/join.hpp"

namespace bootstrap {

// https://docs.k3s.io/installation/configuration#configuration-file, https://docs.k3s.io/cli/token
// Installs K3s from get.k3s.io unless the image has it. Throws std::invalid_argument.
JoinPlan plan_k3s(const JoinRequest& request);

// "K10<SHA-256 of the CA file>::<token>", which makes the agent verify the server.
std::string k3s_token(const Token& token, std::string_view ca_pem);

}  // namespace bootstrap

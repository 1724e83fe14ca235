// How a machine joins a K3s cluster as an agent. Experimental: not proven against a K3s server by us.
#pragma once

#include "bootstrap/join.hpp"

namespace bootstrap {

// https://docs.k3s.io/installation/configuration#configuration-file, https://docs.k3s.io/cli/token
// Unless the image has K3s, it is installed from get.k3s.io, in the server's version. Throws
// std::invalid_argument.
JoinPlan plan_k3s(const JoinRequest& request);

// "K10<SHA-256 of the CA file>::<token>", which makes the agent verify the server.
std::string k3s_token(const Token& token, std::string_view ca_pem);

}  // namespace bootstrap

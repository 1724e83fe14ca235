// How a machine joins a K3s cluster as an agent. By K3s' documents and sources; no K3s server has proven it.
// https://docs.k3s.io/installation/configuration#configuration-file, https://docs.k3s.io/cli/agent
#pragma once

#include <string>
#include <string_view>

#include "bootstrap/join.hpp"

namespace bootstrap {

// Unless the image has K3s, it is installed from get.k3s.io, in the server's version. Throws
// std::invalid_argument.
JoinPlan plan_k3s(const JoinRequest& request);

// By this the agent knows the server: of a single certificate the SHA-256 of the text as it stands, of a
// bundle that of the DER of the root at which the first certificate's chain ends.
// https://docs.k3s.io/cli/token, hashCA() in github.com/k3s-io/k3s/pkg/clientaccess/token.go
std::string k3s_ca_hash(std::string_view ca_pem);

// "K10<hash of the CA>::<token>". K3s takes a bootstrap token for the password of an agent: parseToken()
// there.
std::string k3s_token(const Token& token, std::string_view ca_pem);

}  // namespace bootstrap

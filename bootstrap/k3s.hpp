// How a machine joins a K3s or RKE2 cluster as an agent. By their documents and sources; no server of theirs
// has proven it. https://docs.k3s.io/installation/configuration#configuration-file,
// https://docs.k3s.io/cli/agent, https://docs.rke2.io/reference/linux_agent_config,
// https://docs.rke2.io/install/configuration
#pragma once

#include <string>
#include <string_view>

#include "bootstrap/join.hpp"

namespace bootstrap {

// Unless the image has K3s, it is installed from get.k3s.io, in the server's version. The servers give
// certificates themselves to whoever has a token: pkg/server/auth in github.com/k3s-io/k3s takes the group
// system:bootstrappers, which every bootstrap token is in. Throws std::invalid_argument.
JoinPlan plan_k3s(const JoinRequest& request);

// The same with RKE2, from get.rke2.io; the endpoint is that of RKE2's supervisor, port 9345.
// https://docs.rke2.io/install/quickstart#linux-agent-worker-node-installation
JoinPlan plan_rke2(const JoinRequest& request);

// By this the agent knows the server: of a single certificate the SHA-256 of the text as it stands, of a
// bundle that of the DER of the root at which the first certificate's chain ends.
// https://docs.k3s.io/cli/token, hashCA() in github.com/k3s-io/k3s/pkg/clientaccess/token.go
std::string k3s_ca_hash(std::string_view ca_pem);

// "K10<hash of the CA>::<token>". K3s takes a bootstrap token for the password of an agent: parseToken()
// there.
std::string k3s_token(const Token& token, std::string_view ca_pem);

}  // namespace bootstrap

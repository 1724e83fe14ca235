// Plans how a machine joins a K3s or RKE2 cluster as an agent. It follows their documents and sources; it was
// never tested with their servers. https://docs.k3s.io/installation/configuration#configuration-file,
// https://docs.k3s.io/cli/agent, https://docs.rke2.io/reference/linux_agent_config,
// https://docs.rke2.io/install/configuration
#pragma once

#include <string>
#include <string_view>

#include "bootstrap/join.hpp"

namespace bootstrap {

// Plans the join. Unless the image has K3s, it is installed from get.k3s.io, in the server's version. The
// servers themselves issue certificates to any holder of a token. pkg/server/auth in github.com/k3s-io/k3s
// accepts the group system:bootstrappers, which every bootstrap token has. Throws std::invalid_argument.
JoinPlan plan_k3s(const JoinRequest& request);

// Does the same with RKE2, from get.rke2.io; the endpoint is that of RKE2's supervisor, port 9345.
// https://docs.rke2.io/install/quickstart#linux-agent-worker-node-installation
JoinPlan plan_rke2(const JoinRequest& request);

// Returns the hash with which the agent verifies the server. For a single certificate it is the SHA-256 of
// the unchanged text. For a bundle it is that of the DER of the root at which the first certificate's chain
// ends. https://docs.k3s.io/cli/token, hashCA() in github.com/k3s-io/k3s/pkg/clientaccess/token.go
std::string k3s_ca_hash(std::string_view ca_pem);

// Returns "K10<hash of the CA>::<token>". K3s accepts a bootstrap token as the
// password of an agent: parseToken() there.
std::string k3s_token(const Token& token, std::string_view ca_pem);

}  // namespace bootstrap

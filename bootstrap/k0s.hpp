// Plans how a machine joins a k0s cluster as a worker. It follows k0s' documents and sources; it was never
// tested with a k0s controller. https://docs.k0sproject.io/stable/k0s-multi-node/,
// https://docs.k0sproject.io/stable/worker-node-config/
#pragma once

#include <string>

#include "bootstrap/join.hpp"

namespace bootstrap {

// Plans the join for a k0s that is in the image. A server reports no release that k0s'
// installer would accept. A Node has the host name, and k0s' own controllers approve its
// certificate. Throws std::invalid_argument.
JoinPlan plan_k0s(const JoinRequest& request);

// Returns a kubeconfig of the user kubelet-bootstrap with a bootstrap token, packed by gzip, in base64. See
// joinencode.go and kubeconfig.go in github.com/k0sproject/k0s/pkg/token. Such tokens have no groups except
// system:bootstrappers (manager.go there), so ours work too.
std::string k0s_token(const JoinRequest& request);

}  // namespace bootstrap

// How a machine joins a k0s cluster as a worker. By k0s' documents and sources; no k0s controller has proven
// it. https://docs.k0sproject.io/stable/k0s-multi-node/,
// https://docs.k0sproject.io/stable/worker-node-config/
#pragma once

#include <string>

#include "bootstrap/join.hpp"

namespace bootstrap {

// Of a k0s that is in the image: a server tells no release of k0s that its installer would take. A Node has
// the host name, and k0s' own controllers approve its certificate. Throws std::invalid_argument.
JoinPlan plan_k0s(const JoinRequest& request);

// A kubeconfig of the user kubelet-bootstrap with a bootstrap token, packed by gzip, in base64: joinencode.go
// and kubeconfig.go in github.com/k0sproject/k0s/pkg/token. Such tokens have no groups besides
// system:bootstrappers (manager.go there), so ours serve as well.
std::string k0s_token(const JoinRequest& request);

}  // namespace bootstrap

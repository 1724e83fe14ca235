// Judges the join settings of a pool or control plane before any machine is created. Pure.
#pragma once

#include <string>

#include "api/v1alpha1/bootstrap.hpp"

namespace bootstrap {

// Returns why no machine can join in this way, with the field; empty: nothing prevents it.
std::string contradiction(const api::v1alpha1::Bootstrap& settings);

// Reports whether such a machine's token is valid only for its claim's Node, because the operator approves
// the requested certificate. Otherwise the cluster accepts it for any Node.
bool binds_tokens(const api::v1alpha1::Bootstrap& settings);

// Reports whether servers of the format give certificates for any requested Node to each bootstrap token.
bool trusts_every_token(api::v1alpha1::BootstrapFormat format);

// Reports whether the format's kubelet is known to request a certificate through the API. It
// uses the bootstrap token and the claim's name. Servers of K3s and RKE2 create theirs
// themselves, and k0s approves by itself.
bool asks_for_certificate(api::v1alpha1::BootstrapFormat format);

}  // namespace bootstrap

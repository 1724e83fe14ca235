// What a pool or control plane says about joining, judged before any machine is made. Pure.
#pragma once

#include <string>

#include "api/v1alpha1/bootstrap.hpp"

namespace bootstrap {

// Why no machine can join in this way, naming the field; empty: nothing speaks against it.
std::string contradiction(const api::v1alpha1::Bootstrap& settings);

// Whether a token that such a machine joins with is good for the Node of its claim only: the operator
// approves the certificate that is asked for with it. Otherwise the cluster takes it for any Node.
bool binds_tokens(const api::v1alpha1::Bootstrap& settings);

// Whether servers of the format give certificates, for whichever Node is asked for, to each bootstrap token.
bool trusts_every_token(api::v1alpha1::BootstrapFormat format);

// Whether it is known of this format's join that its kubelet asks for a certificate by the API, with the
// bootstrap token, in the claim's name; servers of K3s and RKE2 make theirs themselves, k0s approves itself.
bool asks_for_certificate(api::v1alpha1::BootstrapFormat format);

}  // namespace bootstrap

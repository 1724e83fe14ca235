// Bootstrap tokens as values: what a machine proves itself with until its kubelet has a certificate.
// https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/
#pragma once

#include <string>
#include <string_view>

#include "api/core.hpp"
#include "api/names.hpp"
#include "base/random.hpp"

namespace bootstrap {

struct Token {
    std::string id;      // 6 characters of [a-z0-9], public
    std::string secret;  // 16 characters of [a-z0-9]

    // "id.secret", as kubeadm takes it. It is a secret: never log it.
    std::string text() const { return id + "." + secret; }
    bool operator==(const Token&) const = default;
};

// Whose machines the controller manager of a cluster made by kubeadm approves certificates for, whatever Node
// they ask for.
inline constexpr std::string_view kKubeadmGroup = "system:bootstrappers:kubeadm:default-node-token";

// The same of a cluster of Talos: internal/app/machined/pkg/controllers/k8s/internal/k8stemplates/csr.go in
// github.com/siderolabs/talos.
inline constexpr std::string_view kTalosGroup = "system:bootstrappers:nodes";

// Which claim a token is for; ends up in the Secret's labels and description.
struct TokenOwner {
    std::string claim_namespace;
    std::string claim_name;
    std::string claim_uid;
};

inline constexpr std::string_view kTokenNamespace = "kube-system";

// The ID of the token of one attempt: always the same, so that a repeated creation finds its own Secret.
std::string token_id(std::string_view claim_uid, std::int64_t attempt);
// A token of that ID with a fresh secret. `random` must be fit for secrets.
Token make_token(std::string_view claim_uid, std::int64_t attempt, base::Random& random);

std::string token_secret_name(std::string_view token_id);
// The Secret kube-system/bootstrap-token-<id> that makes the API server accept the token until `expiration`,
// and the controller manager sign cluster-info with it. Who proves himself with it is in `group`, or, if that
// is empty, in the group of all bootstrap tokens only.
api::Secret token_secret(const Token& token, const TokenOwner& owner, std::string_view group,
                         api::Time expiration);
// Undoes token_secret. Throws std::invalid_argument if that is no bootstrap token.
Token token_of(const api::Secret& secret);
// Expired, or without an expiration that can be read.
bool token_expired(const api::Secret& secret, api::Time now);

}  // namespace bootstrap

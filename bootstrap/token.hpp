// Handles bootstrap tokens as values. A machine authenticates with one until its kubelet has a certificate.
// https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api/core.hpp"
#include "api/names.hpp"
#include "base/random.hpp"

namespace bootstrap {

struct Token {
    std::string id;      // 6 characters of [a-z0-9], public
    std::string secret;  // 16 characters of [a-z0-9]

    // Returns "id.secret", the form for kubeadm. It is a secret: never log it.
    std::string text() const { return id + "." + secret; }
    bool operator==(const Token&) const = default;
};

// The controller manager of a cluster made by kubeadm approves this group's
// certificates for any requested Node.
inline constexpr std::string_view kKubeadmGroup = "system:bootstrappers:kubeadm:default-node-token";

// This group does the same in a Talos cluster:
// internal/app/machined/pkg/controllers/k8s/internal/k8stemplates/csr.go in github.com/siderolabs/talos.
inline constexpr std::string_view kTalosGroup = "system:bootstrappers:nodes";

// TokenOwner names the claim of a token; it is recorded in the Secret's labels and description.
struct TokenOwner {
    std::string claim_namespace;
    std::string claim_name;
    std::string claim_uid;
};

inline constexpr std::string_view kTokenNamespace = "kube-system";

// Returns the ID of an attempt's token. It is always the same, so that a
// repeated creation finds its own Secret.
std::string token_id(std::string_view claim_uid, std::int64_t attempt);
// Creates a token with that ID and a new secret. `random` must be fit for secrets.
Token make_token(std::string_view claim_uid, std::int64_t attempt, base::Random& random);

std::string token_secret_name(std::string_view token_id);
// The longest life of a token. config/admission/policies.yaml refuses tokens that live longer.
inline constexpr std::chrono::hours kLongestTokenLife{6};

// Returns the Secret kube-system/bootstrap-token-<id>. With it the API server accepts the token until
// `expiration`, and the controller manager signs cluster-info with it. The token's holder is in `group` and
// in the group of all bootstrap tokens.
api::Secret token_secret(const Token& token, const TokenOwner& owner, std::string_view group,
                         api::Time expiration);
// Reverts token_secret. Throws std::invalid_argument if the Secret is no bootstrap token.
Token token_of(const api::Secret& secret);
// Reports whether it has expired or has no readable expiration.
bool token_expired(const api::Secret& secret, api::Time now);

}  // namespace bootstrap

// Which certificates a kubelet may have: the decision on a CertificateSigningRequest, as a value. What it is
// decided by are the claim's own facts; what the Node's status says is written by the kubelet that asks.
// https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core.hpp"

namespace bootstrap {

inline constexpr std::string_view kClientSigner = "kubernetes.io/kube-apiserver-client-kubelet";
inline constexpr std::string_view kServingSigner = "kubernetes.io/kubelet-serving";
// The group of our tokens, which nothing approves but this decision.
inline constexpr std::string_view kTokenGroup = "system:bootstrappers:kubenodesmith";
// The reason why a serving certificate waits: a name or address in it is not the machine's to name.
inline constexpr std::string_view kUnknownAddress = "UnknownAddress";

// Where the claim's current attempt stands.
enum class Stage {
    Coming,   // its machine is not known to be made yet, but may be about to ask
    Joining,  // made, not registered, not leaving: only then is a first certificate due
    Over,
};

// What a claim tells of the machine that may ask.
struct Joiner {
    std::string node_name;
    std::string token_id;  // of the claim's current attempt
    Stage stage = Stage::Coming;
    std::string name_taken;  // why the name is not the machine's to have; empty: it is
    // The key that this attempt was granted a certificate for; empty before.
    std::string key_sha256;
};

// The machine behind a Node of ours.
struct Machine {
    std::string node_name;
    // Addresses that it may name, in canonical form.
    std::vector<std::string> addresses;
};

enum class Verdict {
    Ignore,   // not ours to judge
    Approve,  // `key_sha256` has to be remembered for the attempt before this is written
    Deny,
    Wait,  // stays pending, for a person or for facts that are not known yet
};

struct Approval {
    Verdict verdict = Verdict::Ignore;
    // For people and for the condition; empty where the request is ignored.
    std::string reason;
    std::string message;
    std::string key_sha256;
};

// Approved, denied or failed already.
bool decided(const api::CertificateSigningRequest& request);
// The ID of the token of ours that the requester proved itself with; nullopt: it did not with one of ours.
std::optional<std::string> token_of_requester(const api::CertificateSigningRequest& request);
// The name of the Node as which the requester is known; nullopt: the requester is not a Node.
std::optional<std::string> node_of_requester(const api::CertificateSigningRequest& request);

// Whatever is asked for with a token of ours. `joiner` is the claim whose current attempt has that token.
// Where none has (nullptr), the token may be one of another operator in this cluster: its request is left
// alone.
Approval judge_client(const api::CertificateSigningRequest& request, const Joiner* joiner);
// A serving certificate, the first or a renewed one. `machine` is that of the Node that asks, nullptr where
// no live claim has it.
Approval judge_serving(const api::CertificateSigningRequest& request, const Machine* machine);

}  // namespace bootstrap

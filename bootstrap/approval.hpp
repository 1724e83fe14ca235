// Decides on a CertificateSigningRequest of a kubelet, as a value. The claim's own facts decide, because the
// requesting kubelet writes the Node's status.
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
// This is the group of our tokens. Nothing but this decision approves their requests.
inline constexpr std::string_view kTokenGroup = "system:bootstrappers:kubenodesmith";
// This reason means that a serving certificate waits: it has a name or address that the machine may not use.
inline constexpr std::string_view kUnknownAddress = "UnknownAddress";

// Stage is the progress of the claim's current attempt.
enum class Stage {
    Coming,   // its machine is not known to exist yet, but may be about to ask
    Joining,  // created, not registered, not leaving: the only stage for a first certificate
    Over,
};

// Joiner holds what a claim records about the machine that may ask.
struct Joiner {
    std::string node_name;
    std::string token_id;  // token of the claim's current attempt
    Stage stage = Stage::Coming;
    std::string name_taken;  // why the machine may not have the name; empty: it may
    // Hash of this attempt's certified key; empty before the first certificate.
    std::string key_sha256;
};

// CertificateSubject describes the machine of one of our Nodes.
struct CertificateSubject {
    std::string node_name;
    // Addresses that its certificate may contain, in canonical form.
    std::vector<std::string> addresses;
};

enum class Verdict {
    Ignore,   // not ours to judge
    Approve,  // `key_sha256` must be recorded for the attempt before this is written
    Deny,
    Wait,  // stays pending, for a person or for facts that are not known yet
};

struct Approval {
    Verdict verdict = Verdict::Ignore;
    // Text for people and for the condition; empty if the request is ignored.
    std::string reason;
    std::string message;
    std::string key_sha256;
};

// Reports whether it is already approved, denied or failed.
bool decided(const api::CertificateSigningRequest& request);
// Returns the ID of our token that authenticated the requester; nullopt: it used none of our tokens.
std::optional<std::string> token_of_requester(const api::CertificateSigningRequest& request);
// Returns the Node name that authenticated the requester; nullopt: it is no Node.
std::optional<std::string> node_of_requester(const api::CertificateSigningRequest& request);

// Judges a request with one of our tokens. `joiner` is the claim whose current attempt has that token. If
// none has (nullptr), another operator in this cluster may own the token, and the request is ignored.
Approval judge_client(const api::CertificateSigningRequest& request, const Joiner* joiner);
// Judges a serving certificate, the first or a renewed one. `machine` belongs to the requesting
// Node; nullptr: no live claim has it.
Approval judge_serving(const api::CertificateSigningRequest& request, const CertificateSubject* machine);

}  // namespace bootstrap

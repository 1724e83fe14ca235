// Which Node runs on a claim's machine. Status is a note, not evidence: whoever may write one, and whoever is
// root in a guest, names what he likes in it. A Node's own kubelet can write its labels, our own among them.
// Believed are what the API server itself sets (UID, name, time of creation of claim and Node), the host that
// a claim was given, our record of a Node together with our label on it, and the label with which a person
// says whose a Node is, as no kubelet can set it.
#pragma once

#include <string>

#include "api/node.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers::claim {

// The claim with the system UUID that its machine has: a VM's follows from the claim, hardware's stands on
// the host that is the claim's, an adopted one's is noted. `provider` is the claim's, `host` the one that it
// notes; null: there is none. Where nothing is known, what is noted stands.
ClaimPointer with_own_uuid(ClaimPointer claim, const NodeSmithProvider* provider, const HostPointer& host);

struct FoundNode {
    NodePointer node;
    // Why a Node that has the machine's identity is not taken for the claim's; empty: there is no such Node.
    std::string refusal;
    // Which Nodes show the machine's system UUID, if it is more than one, and what a person has to do.
    std::string contest;
};
// By its identity; as above.
FoundNode find_node(const Informers& informers, const NodeSmithClaim& claim,
                    const NodeSmithProvider* provider, const HostPointer& host);

// The Node that the claim notes, as far as nothing shows that it is not its own; null: none is noted.
NodePointer noted_node(const Informers& informers, const NodeSmithClaim& claim);

// That one, or before the machine has joined for good the one that is found by its identity.
NodePointer node_of(const Informers& informers, const NodeSmithClaim& claim);

// Why a Node of any identity cannot be adopted by the claim; empty: it can.
std::string why_not_adoptable(const Informers& informers, const NodeSmithClaim& claim, const api::Node& node);

}  // namespace controllers::claim

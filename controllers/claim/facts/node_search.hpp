// Finds the Node that runs on a claim's machine. A status is no evidence: its writers can name anything, and
// so can root in a guest. A Node's kubelet can write its labels, including ours.
// It believes what the API server itself sets: UID, name and creation time of claim and Node. It also
// believes the host of a claim, and our record of a Node together with our label. A person's label that
// states a Node's owner counts too, because no kubelet can set it.
#pragma once

#include <string>

#include "api/node.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers::claim {

// Returns the claim with its machine's system UUID. A VM's is derived from the claim, and hardware's is
// recorded on its host. An adopted one's is recorded in the status. `provider` is the claim's and `host` is
// its recorded one; null: none. If nothing is known, the recorded UUID is kept.
ClaimPointer with_own_uuid(ClaimPointer claim, const NodeSmithProvider* provider, const HostPointer& host);

struct FoundNode {
    NodePointer node;
    // Says why a Node with the machine's identity is not accepted as the claim's; empty: no such Node.
    std::string refusal;
    // Names the Nodes that share the machine's system UUID, if there are several, and a remedy.
    std::string contest;
};
// Finds the Node by its identity, as described above.
FoundNode find_node(const Informers& informers, const NodeSmithClaim& claim,
                    const NodeSmithProvider* provider, const HostPointer& host);

// Returns the Node that the claim records, unless something disproves it; null: none is recorded.
NodePointer noted_node(const Informers& informers, const NodeSmithClaim& claim);

// Returns the recorded Node or, before the machine has finally joined, the one found by its identity.
NodePointer node_of(const Informers& informers, const NodeSmithClaim& claim);

// Returns why a Node of any identity cannot be adopted by the claim; empty: it can.
std::string why_not_adoptable(const Informers& informers, const NodeSmithClaim& claim, const api::Node& node);

}  // namespace controllers::claim

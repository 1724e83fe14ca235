// Derives a machine's identity from its claim, so that it can be recomputed after any crash.
#pragma once

#include <string>
#include <string_view>

#include "api/node.hpp"
#include "base/uuid.hpp"
#include "controllers/cache/kinds.hpp"
#include "providers/machine.hpp"

namespace controllers::claim {

using api::v1alpha1::ClaimStatus;

// Returns the SMBIOS UUID of this attempt's machine, in lower case. It is a UUIDv5 with the claim's
// UID as namespace and the attempt's number as name (RFC 4122 section 4.3). Throws
// std::invalid_argument if claim_uid is no UUID.
std::string system_uuid(std::string_view claim_uid, std::int64_t attempt);

using base::byte_swapped;
using base::same_uuid;

// Returns the identity of the claim's present attempt. provider_uid is that of the NodeSmithProvider.
providers::MachineIdentity identity_of(const NodeSmithClaim& claim, const std::string& cluster_id,
                                       const std::string& provider_uid);
// Returns what the claim's status records about its machine; empty if the claim has no machineID.
providers::MachineRecord record_of(const ClaimStatus& status);

// Reports whether the machine's UUID matches its mark. A foreign clone carries the mark but has another UUID.
// An adopted machine has another UUID too.
bool is_proven(const providers::Machine& machine);

// Reports whether the Node runs on the claim's machine. It compares system UUIDs
// or, if one is unknown, providerIDs.
bool is_node_of(const api::Node& node, const ClaimStatus& status);

}  // namespace controllers::claim

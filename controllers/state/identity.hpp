// Who a machine is: derived from its claim, so that it can be recomputed after any crash.
#pragma once

#include <string>
#include <string_view>

#include "api/node.hpp"
#include "base/uuid.hpp"
#include "controllers/cache/kinds.hpp"
#include "providers/machine.hpp"

namespace controllers::claim {

using api::v1alpha1::ClaimStatus;

// SMBIOS UUID of the machine of this attempt: UUIDv5 with the claim's UID as namespace and the attempt's
// number as name (RFC 4122 section 4.3), lower case. Throws std::invalid_argument if claim_uid is no UUID.
std::string system_uuid(std::string_view claim_uid, std::int64_t attempt);

using base::byte_swapped;
using base::same_uuid;

// The identity of the claim's present attempt. provider_uid is that of the NodeSmithProvider.
providers::MachineIdentity identity_of(const NodeSmithClaim& claim, const std::string& cluster_id,
                                       const std::string& provider_uid);
// What the claim's status holds of its machine; a claim without a machineID has an empty record.
providers::MachineRecord record_of(const ClaimStatus& status);

// The machine's UUID follows from its mark. A clone carries the mark, but a UUID of its own: somebody else
// made it. An adopted machine has another UUID, too.
bool is_proven(const providers::Machine& machine);

// The Node runs on the claim's machine: equal system UUIDs, or, where one of them is not known, equal
// providerIDs.
bool is_node_of(const api::Node& node, const ClaimStatus& status);

}  // namespace controllers::claim

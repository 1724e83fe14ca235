#include "controllers/claim/facts/identity.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace controllers::claim {
std::string system_uuid(std::string_view claim_uid, std::int64_t attempt) {
    const auto space = base::parse_uuid(claim_uid);
    if (!space) {
        throw std::invalid_argument("the claim's UID \"" + std::string(claim_uid) + "\" is not a UUID");
    }
    std::string input(space->begin(), space->end());
    input += std::to_string(attempt);
    std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
    SHA1(reinterpret_cast<const unsigned char*>(input.data()), input.size(), digest.data());
    base::UuidBytes uuid{};
    std::copy_n(digest.begin(), uuid.size(), uuid.begin());
    uuid[6] = static_cast<unsigned char>((uuid[6] & 0x0f) | 0x50);
    uuid[8] = static_cast<unsigned char>((uuid[8] & 0x3f) | 0x80);
    return base::write_uuid(uuid);
}

providers::MachineIdentity identity_of(const NodeSmithClaim& claim, const std::string& cluster_id,
                                       const std::string& provider_uid) {
    providers::MachineIdentity identity;
    identity.cluster_id = cluster_id;
    identity.provider_uid = provider_uid;
    identity.claim_namespace = claim.metadata.namespace_;
    identity.claim_name = claim.metadata.name;
    identity.claim_uid = claim.metadata.uid;
    identity.attempt = claim.status.launchAttempts;
    identity.system_uuid = claim.status.systemUUID;
    return identity;
}

providers::MachineRecord record_of(const ClaimStatus& status) {
    if (status.machineID.empty()) return {};
    return {status.host, status.machineID, status.taskRef};
}

bool is_proven(const providers::Machine& machine) {
    if (machine.is_bare_metal) return true;  // the operator alone writes the lock on its host
    const auto& identity = machine.identity;
    try {
        return same_uuid(identity.system_uuid, system_uuid(identity.claim_uid, identity.attempt));
    } catch (const std::invalid_argument&) {
        return false;  // a mark that a person wrote
    }
}

bool is_node_of(const api::Node& node, const ClaimStatus& status) {
    const auto& uuid = node.status.nodeInfo.systemUUID;
    if (!uuid.empty() && !status.systemUUID.empty()) return same_uuid(uuid, status.systemUUID);
    return !status.providerID.empty() && node.spec.providerID == status.providerID;
}

}  // namespace controllers::claim

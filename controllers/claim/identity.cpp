#include "controllers/claim/identity.hpp"

#include <openssl/sha.h>

#include <array>
#include <charconv>
#include <stdexcept>

#include "api/names.hpp"

namespace controllers::claim {
namespace {

using Bytes = std::array<unsigned char, 16>;

std::string lower(std::string_view text) {
    std::string result(text);
    for (auto& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

// 8-4-4-4-12 hexadecimal digits.
bool parse_uuid(std::string_view text, Bytes& bytes) {
    if (text.size() != 36) return false;
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (at == 8 || at == 13 || at == 18 || at == 23) {
            if (text[at++] != '-') return false;
            continue;
        }
        const char* begin = text.data() + at;
        auto [end, error] = std::from_chars(begin, begin + 2, bytes[count], 16);
        if (error != std::errc{} || end != begin + 2) return false;
        ++count;
        at += 2;
    }
    return true;
}

std::string write_uuid(const Bytes& bytes) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += kDigits[bytes[i] >> 4];
        text += kDigits[bytes[i] & 15];
    }
    return text;
}

}  // namespace

std::string system_uuid(std::string_view claim_uid, std::int64_t attempt) {
    Bytes space{};
    if (!parse_uuid(claim_uid, space)) {
        throw std::invalid_argument("the claim's UID \"" + std::string(claim_uid) + "\" is no UUID");
    }
    std::string input(space.begin(), space.end());
    input += std::to_string(attempt);
    std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
    SHA1(reinterpret_cast<const unsigned char*>(input.data()), input.size(), digest.data());
    Bytes uuid{};
    std::copy_n(digest.begin(), uuid.size(), uuid.begin());
    uuid[6] = static_cast<unsigned char>((uuid[6] & 0x0f) | 0x50);
    uuid[8] = static_cast<unsigned char>((uuid[8] & 0x3f) | 0x80);
    return write_uuid(uuid);
}

std::string byte_swapped(std::string_view uuid) {
    Bytes bytes{};
    if (!parse_uuid(uuid, bytes)) return lower(uuid);
    std::swap(bytes[0], bytes[3]);
    std::swap(bytes[1], bytes[2]);
    std::swap(bytes[4], bytes[5]);
    std::swap(bytes[6], bytes[7]);
    return write_uuid(bytes);
}

bool same_uuid(std::string_view a, std::string_view b) {
    auto left = lower(a);
    auto right = lower(b);
    return !left.empty() && (left == right || byte_swapped(left) == right);
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

bool is_node_of(const api::Node& node, const ClaimStatus& status) {
    const auto& uuid = node.status.nodeInfo.systemUUID;
    if (!uuid.empty() && !status.systemUUID.empty()) return same_uuid(uuid, status.systemUUID);
    return !status.providerID.empty() && node.spec.providerID == status.providerID;
}

}  // namespace controllers::claim

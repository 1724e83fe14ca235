#include "controllers/claim/act/mac_addresses.hpp"

#include "base/mac_address.hpp"

namespace controllers::claim {

namespace {

// A prefix of five byte pairs leaves 256 addresses.
constexpr int kTries = 4096;

std::string free_address(const std::string& prefix, const std::string& key,
                         const std::set<std::string>& taken) {
    for (int turn = 0; turn < kTries; ++turn) {
        auto address = base::mac_address(prefix, turn == 0 ? key : key + "/" + std::to_string(turn));
        if (!taken.contains(address)) return address;
    }
    return {};
}

}  // namespace

std::optional<std::vector<api::v1alpha1::ClaimInterface>> MacAddresses::choose(
    const NodeSmithClaim& claim, const std::vector<WishedInterface>& wished) {
    std::vector<api::v1alpha1::ClaimInterface> interfaces;
    if (wished.empty()) return interfaces;
    auto others = taken(claim);
    auto& own = chosen_[claim.metadata.uid];
    own.clear();
    for (const auto& wish : wished) {
        auto address = wish.mac_address;
        if (address.empty())
            address = free_address(wish.mac_prefix, claim.status.systemUUID + "/" + wish.name, others);
        if (address.empty()) return std::nullopt;
        others.insert(address);
        own.insert(address);
        interfaces.push_back({wish.name, std::move(address)});
    }
    return interfaces;
}

std::set<std::string> MacAddresses::taken(const NodeSmithClaim& but) {
    std::set<std::string> result;
    std::map<std::string, std::set<std::string>> pending;
    for (const auto& [key, other] : informers_.claims.store().all()) {
        if (other->metadata.uid == but.metadata.uid) continue;
        for (const auto& interface : other->status.networkInterfaces) result.insert(interface.macAddress);
        const auto chosen = chosen_.find(other->metadata.uid);
        const bool is_pending = chosen != chosen_.end() && other->status.networkInterfaces.empty();
        if (is_pending) pending.insert(*chosen);
    }
    chosen_ = std::move(pending);
    for (const auto& [uid, addresses] : chosen_) result.insert(addresses.begin(), addresses.end());
    return result;
}

}  // namespace controllers::claim

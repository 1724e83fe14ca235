// Chooses MAC addresses of machines before they are created, so that the guest's
// configuration can identify each interface.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/claim/decide/guest_wish.hpp"

namespace controllers::claim {

inline constexpr std::string_view kMACAddressesExhausted = "MACAddressesExhausted";  // reason of Launched

class MacAddresses {
public:
    explicit MacAddresses(const Informers& informers) : informers_(informers) {}

    // Returns the addresses of the claim's present attempt. They are the same for each call, and unique to
    // each interface and each of our machines. nullopt: the user's prefix has no free address left. Proxmox
    // itself does not check for duplicates among guests.
    std::optional<std::vector<api::v1alpha1::ClaimInterface>> choose(
        const NodeSmithClaim& claim, const std::vector<WishedInterface>& wished);

private:
    std::set<std::string> taken(const NodeSmithClaim& but);

    const Informers& informers_;
    std::map<std::string, std::set<std::string>> chosen_;  // by claim UID, until the status shows them
};

}  // namespace controllers::claim

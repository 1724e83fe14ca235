// MAC addresses of machines, chosen before they are made, so that a guest can be told which interface is
// which.
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

    // Those of the claim's present attempt: the same whenever asked, and another for each interface and for
    // each machine of ours. nullopt: with a prefix of the user's no other is left. Proxmox itself compares
    // none with those of other guests.
    std::optional<std::vector<api::v1alpha1::ClaimInterface>> choose(
        const NodeSmithClaim& claim, const std::vector<WishedInterface>& wished);

private:
    std::set<std::string> taken(const NodeSmithClaim& but);

    const Informers& informers_;
    std::map<std::string, std::set<std::string>> chosen_;  // by claim UID, until its status shows them
};

}  // namespace controllers::claim

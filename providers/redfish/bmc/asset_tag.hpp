// The lock on a host that other clusters can see: a short text in the AssetTag of its BMC, and what any text
// there means. Pure.
#pragma once

#include <string>
#include <vector>

#include "providers/machine.hpp"

namespace providers::redfish {

// "kns-CLUSTER-CLAIM", twelve hexadecimal digits each, of the fingerprints of both UIDs: 29 characters, where
// BMCs take 32 (Lenovo, iLO) to 63, and none that a BMC could mind.
std::string lock_mark(const MachineIdentity& identity);

enum class TagMeaning {
    free,       // empty, or what the user says means nothing
    mine,       // of this claim
    own_claim,  // of another claim of this cluster
    others,     // of another cluster
    inventory,  // somebody's own asset tag
};
// `mark`: of the claim, or of any claim of the cluster where only that is of interest.
TagMeaning meaning_of(const std::string& tag, const std::string& mark,
                      const std::vector<std::string>& free_values);

// The BMC kept only the beginning of the mark.
bool is_cut(const std::string& tag, const std::string& mark);

}  // namespace providers::redfish

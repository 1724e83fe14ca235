// The lock on a host that other clusters can see: a short text in the AssetTag of its BMC. Also interprets
// any other text there. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "providers/capabilities.hpp"
#include "providers/machine.hpp"

namespace providers::redfish {

// Returns "kns-CLUSTER-CLAIM" with twelve hexadecimal digits each from the fingerprints of both UIDs. It has
// 29 harmless characters, as BMCs accept 32 (Lenovo, iLO) to 63.
std::string lock_mark(const MachineIdentity& identity);

enum class TagMeaning {
    free,       // empty, or a text that the user declared as free
    mine,       // this claim
    own_claim,  // another claim of this cluster
    others,     // another cluster
    inventory,  // an asset tag of the owner
};
// Returns the meaning of a tag. `mark` is the claim's mark, or that of any claim if only the cluster matters.
TagMeaning meaning_of(const std::string& tag, const std::string& mark,
                      const std::vector<std::string>& free_values);

// Number of the first characters of an epoch that a tag keeps.
inline constexpr std::size_t kEpochDigits = 6;
// Returns the mark with the record of a leader, "kns-CLUSTER-CLAIM", with 8 digits of the cluster, then 4 of
// the claim, 6 of the epoch and, if there is a rival, 6 of its epoch. So a BMC that keeps the mark has room
// for it. `mark` may have a record already.
std::string with_epoch(const std::string& mark, const EpochRecord& record);
// Returns the record in a tag; nullopt: it has none.
std::optional<EpochRecord> epoch_in(const std::string& tag);

// Reports whether the BMC truncated the mark.
bool is_cut(const std::string& tag, const std::string& mark);

}  // namespace providers::redfish

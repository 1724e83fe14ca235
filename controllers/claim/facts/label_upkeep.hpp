// Decides which labels and taints are restored after others removed or overwrote them on
// a Node in service, and when. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/claim/facts/node_changes.hpp"

namespace controllers::claim {

using api::v1alpha1::ContestedLabel;

// Deviation is a label or taint that a Node should have and lacks.
struct Deviation {
    std::string key;
    std::string effect;  // effect of a taint; "" = it is a label
    std::string value;   // expected value
    std::string found;   // present value; "" = none
};

// Returns the Node's labels and taints that differ from those its machine was created with. A label
// that was added to the pool's template or changed in it since is not a deviation: machines are replaced for
// that. The same holds for taints of a changed template. Taints with the effect NoExecute are excluded,
// because restoring them would evict pods.
std::vector<Deviation> deviations(const api::Node& node, const NodeOrigin& origin);

// Upkeep says what to do about deviations.
struct Upkeep {
    std::vector<Deviation> due;              // restored now
    std::vector<ContestedLabel> remembered;  // earlier ones that still count
    std::optional<api::Time> look_again;
};

// Decides what to restore. The first deviation of a label is corrected immediately. Each further one waits
// twice as long as its predecessor. A label that stayed for as long as its pause is forgotten. At most 16 are
// remembered; others are not restored.
Upkeep upkeep(const std::vector<ContestedLabel>& known, const std::vector<Deviation>& found, api::Time now);

// Returns the memory after the due ones were restored. `managers` names the field managers that had written
// them, in the same order; "" for unknown ones.
std::vector<ContestedLabel> after_putting_back(const Upkeep& upkeep, const std::vector<std::string>& managers,
                                               api::Time now);

// Returns the Node with the due labels and taints.
api::Node with_put_back(const api::Node& node, const std::vector<Deviation>& due);

// Reports whether it was lost again after it was restored, because something else keeps writing it.
bool does_not_stay(const ContestedLabel& label);

// Names a label or taint for people: "label tier" or "taint tier:NoSchedule".
std::string name_of_contested(const std::string& key, const std::string& effect);

}  // namespace controllers::claim

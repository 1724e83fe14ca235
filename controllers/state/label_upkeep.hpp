// Labels and taints that others take off a Node in service or overwrite: which of them are put back, and
// when. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/state/node_changes.hpp"

namespace controllers::claim {

using api::v1alpha1::ContestedLabel;

// A label or taint that a Node should have and has not.
struct Deviation {
    std::string key;
    std::string effect;  // of a taint; "" = it is a label
    std::string value;   // what it should be
    std::string found;   // what is there instead; "" = nothing
};

// The labels and taints of the Node that are not as the machine was made with. A label that the pool's
// template has got or changed since is no deviation: machines are replaced for that. Neither are taints of a
// template that has changed, nor taints with the effect NoExecute, as putting these back would evict pods.
std::vector<Deviation> deviations(const api::Node& node, const NodeOrigin& origin);

// What is to be done about deviations.
struct Upkeep {
    std::vector<Deviation> due;              // put back now
    std::vector<ContestedLabel> remembered;  // those of before that still count
    std::optional<api::Time> look_again;
};

// The first deviation of a label is mended at once. Each further one waits twice as long as the one before. A
// label that has stayed for as long as its pause is forgotten. At most 16 are remembered; what exceeds them
// is left as it is.
Upkeep upkeep(const std::vector<ContestedLabel>& known, const std::vector<Deviation>& found, api::Time now);

// The memory after the due ones were put back; `managers` names the field managers that had written them, in
// their order, "" for those that are not known.
std::vector<ContestedLabel> after_putting_back(const Upkeep& upkeep, const std::vector<std::string>& managers,
                                               api::Time now);

// The Node with what is due.
api::Node with_put_back(const api::Node& node, const std::vector<Deviation>& due);

// Reports whether it did not stay after it was put back: something else goes on writing it.
bool does_not_stay(const ContestedLabel& label);

// Of a label or taint, for people: "label tier" or "taint tier:NoSchedule".
std::string name_of_contested(const std::string& key, const std::string& effect);

}  // namespace controllers::claim

// Defines why a node is kept, and the kinds of disruption.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/time.hpp"
#include "api/v1alpha1/pool.hpp"

namespace controllers::disruption {

using Kind = api::v1alpha1::DisruptionReason;

// Returns the name that the condition Disrupted and budgets use.
std::string_view name_of(Kind kind);
std::optional<Kind> kind_named(std::string_view name);
// Reports whether the disruption reduces the number of nodes instead of replacing one.
bool is_scale_down(Kind kind);

// Reports whether a node is removed from service for that reason although volumes hold its machine. The
// machine is then kept until a person decides.
bool keeps_machine_for_volumes(Kind kind);

struct Blocker {
    std::string reason;              // CamelCase
    std::string message;             // for people; contains no figure that changes with time
    std::optional<api::Time> until;  // if it ends by time alone

    bool operator==(const Blocker&) const = default;
};

// Stay says why a node that could be disrupted is kept, and which disruption was considered.
struct Stay {
    Kind kind = Kind::Empty;
    Blocker blocker;
};
using Stays = std::map<std::string, Stay>;  // by node

// Returns start + wait if that is in the future and the wait is above 0.
std::optional<api::Time> end_of(std::optional<api::Time> start, api::Duration wait, api::Time now);

}  // namespace controllers::disruption

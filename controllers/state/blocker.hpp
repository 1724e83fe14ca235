// Why a node stays, and the kinds of disruption.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/time.hpp"
#include "api/v1alpha1/pool.hpp"

namespace controllers::disruption {

using Kind = api::v1alpha1::DisruptionReason;

// As in the condition Disrupted and in budgets.
std::string_view name_of(Kind kind);
std::optional<Kind> kind_named(std::string_view name);
// To have fewer nodes, as opposed to other nodes.
bool is_scale_down(Kind kind);

// Whether a node goes out of service for that reason although volumes hold its machine: the machine is then
// kept until a person decides.
bool keeps_machine_for_volumes(Kind kind);

struct Blocker {
    std::string reason;              // CamelCase
    std::string message;             // for people; no figure in it that changes with time
    std::optional<api::Time> until;  // if it ends by time alone

    bool operator==(const Blocker&) const = default;
};

// Of a node that could go: as what, and why it stays.
struct Stay {
    Kind kind = Kind::Empty;
    Blocker blocker;
};
using Stays = std::map<std::string, Stay>;  // by node

// start + wait, if that is still to come and the wait is above 0.
std::optional<api::Time> end_of(std::optional<api::Time> start, api::Duration wait, api::Time now);

}  // namespace controllers::disruption

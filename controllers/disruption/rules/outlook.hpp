// Decides whether nodes that should be removed can go now, by simulating where their pods would run. Pure.
#pragma once

#include <string>
#include <vector>

#include "controllers/disruption/facts/blocker.hpp"
#include "scheduling/solver.hpp"

namespace controllers::disruption {

enum class Outlook {
    clear,        // every pod has a place on a ready node
    wait,         // machines for them must be launched, or are being created
    drain_first,  // its pods can be placed only after the node is gone
    later,        // one of these, once pools that are closed for a while reopen
    impossible,
};

struct DepartureVerdict {
    Outlook outlook = Outlook::impossible;
    std::string message;  // for people
};

struct Departure {
    Kind kind = Kind::Empty;         // the same for all of them
    std::vector<std::size_t> nodes;  // indices into snapshot.nodes; they may be leaving already
    bool may_launch = true;          // machines in place of underutilized ones
};
DepartureVerdict judge_departure(scheduling::Solver& solver, scheduling::Snapshot snapshot,
                                 const Departure& departure);

}  // namespace controllers::disruption

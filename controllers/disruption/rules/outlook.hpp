// Whether nodes that shall leave can leave now, by a simulation of where their pods would go. Pure.
#pragma once

#include <string>
#include <vector>

#include "controllers/state/blocker.hpp"
#include "scheduling/solver.hpp"

namespace controllers::disruption {

enum class Outlook {
    clear,        // every pod of theirs has a place on a node that is ready
    wait,         // machines are to be launched, or are coming, for them
    drain_first,  // places for all pods are to be had only once it is gone
    later,        // one of these, as soon as pools that are closed for a while are open
    impossible,
};

struct DepartureVerdict {
    Outlook outlook = Outlook::impossible;
    std::string message;  // for people
};

struct Departure {
    Kind kind = Kind::Empty;         // of all of them
    std::vector<std::size_t> nodes;  // indices into snapshot.nodes; they may be leaving already
    bool may_launch = true;          // machines instead of underutilized ones
};
DepartureVerdict judge_departure(scheduling::Solver& solver, scheduling::Snapshot snapshot,
                                 const Departure& departure);

}  // namespace controllers::disruption

// Whether nodes that shall leave can leave now, by a simulation of where their pods would go. Pure.
#pragma once

#include <string>
#include <vector>

#include "controllers/disruption/blocker.hpp"
#include "scheduling/solver.hpp"

namespace controllers::disruption {

enum class Outlook {
    clear,        // every pod of theirs has a place on a node that is ready
    wait,         // machines are to be bought, or are coming, for them
    drain_first,  // no limit has room for one more: the replacement can come only afterwards
    impossible,
};

struct Verdict {
    Outlook outlook = Outlook::impossible;
    std::string message;  // for people
};

// `nodes` are indices into snapshot.nodes, `kind` the one of all of them. They may be leaving already.
Verdict judge_departure(scheduling::Solver& solver, scheduling::Snapshot snapshot,
                        const std::vector<std::size_t>& nodes, Kind kind);

}  // namespace controllers::disruption

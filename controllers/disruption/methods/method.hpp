// One reason for which nodes leave: which nodes it concerns, and which of them can go now. The methods are
// those of Karpenter's disruption controller, with repair and evacuation beside them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "controllers/disruption/methods/pass.hpp"

namespace controllers::disruption {

struct Candidacy {
    std::string why;                      // "the node is empty"; empty: it is no candidate
    std::optional<api::Time> look_again;  // when time alone would make it one
};
struct Candidate {
    const Member* member = nullptr;
    std::string why;
};
// A node that is to leave now.
struct Command {
    Member member;
    Kind kind = Kind::Empty;
    std::string why;
    std::string plan;             // where its pods go, for people
    bool is_replaced = true;      // by another machine, as opposed to room that is there
    bool switches_power = false;  // first its machine is switched off and on again: that may be enough
};

struct Method {
    Kind kind;
    // Only nodes that were in service are candidates.
    Candidacy candidacy(const NodeFacts& facts, api::Time now) const;
    Candidacy (*find)(const NodeFacts& facts, api::Time now);
    // Of candidates that no wish, delay or count keeps, in the order in which they should go: one that can
    // go, or several that can go together; all that could go if the pool is only observed. Says to the pass
    // why the others stay.
    std::vector<Command> (*judge)(Pass& pass, Kind kind, const std::vector<Candidate>& candidates);
};

// The most urgent first.
std::span<const Method> methods();
const Method& method_for(Kind kind);
// Its place among the methods.
std::size_t rank(Kind kind);

}  // namespace controllers::disruption

// Describes one reason for removing nodes: which nodes it concerns, and which can go now. The methods are
// those of Karpenter's disruption controller, plus repair and evacuation.
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
    std::optional<api::Time> look_again;  // time at which it becomes a candidate without any change
};
struct Candidate {
    const Member* member = nullptr;
    std::string why;
};
// Command describes a node that should be removed now.
struct Command {
    Member member;
    Kind kind = Kind::Empty;
    std::string why;
    std::string plan;             // where its pods will run, for people
    bool is_replaced = true;      // another machine replaces it; false: existing room suffices
    bool switches_power = false;  // its machine is first switched off and on again, which may suffice
};

struct Method {
    Kind kind;
    // Judges one node. Nodes that never were in service are no candidates.
    Candidacy candidacy(const NodeFacts& facts, api::Time now) const;
    Candidacy (*find)(const NodeFacts& facts, api::Time now);
    // Chooses among candidates that no setting, delay or budget blocks, in the order of removal. Returns one
    // node that can go, or several that can go together. For an observed pool it returns all that could go.
    // Reports to the pass why the others are kept.
    std::vector<Command> (*judge)(Pass& pass, Kind kind, const std::vector<Candidate>& candidates);
    // Reports whether a removal that has begun still has its cause; null: if the node is still a candidate.
    bool (*still_holds)(const NodeFacts& facts, api::Time now) = nullptr;
    bool has_reason_to_go_on(const NodeFacts& facts, api::Time now) const;
};

// Returns the methods, the most urgent first.
std::span<const Method> methods();
const Method& method_for(Kind kind);
// Returns its position among the methods.
std::size_t rank(Kind kind);

}  // namespace controllers::disruption

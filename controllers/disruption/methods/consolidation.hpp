// Nodes whose pods fit elsewhere, or on one smaller machine. They are judged together.
#pragma once

#include "controllers/disruption/methods/method.hpp"

namespace controllers::disruption {

class Consolidation final : public Method {
public:
    Kind kind() const override { return Kind::Underutilized; }
    std::vector<Command> judge(Pass& pass, const std::vector<Candidate>& candidates) const override;

private:
    Candidacy find(const NodeFacts& facts, api::Time now) const override;
};

}  // namespace controllers::disruption

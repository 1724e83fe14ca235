// Nodes that are not Ready: a second chance by switching their machines off and on, and then others.
#pragma once

#include "controllers/disruption/methods/method.hpp"

namespace controllers::disruption {

class Repair final : public Method {
public:
    Kind kind() const override { return Kind::Unhealthy; }
    std::vector<Command> judge(Pass& pass, const std::vector<Candidate>& candidates) const override;

private:
    Candidacy find(const NodeFacts& facts, api::Time now) const override;
};

}  // namespace controllers::disruption

// Nodes that are not as they would be made now.
#pragma once

#include "controllers/disruption/methods/method.hpp"

namespace controllers::disruption {

class Drift final : public Method {
public:
    Kind kind() const override { return Kind::Drifted; }
    std::vector<Command> judge(Pass& pass, const std::vector<Candidate>& candidates) const override {
        return first_with_a_place(pass, kind(), candidates);
    }

private:
    Candidacy find(const NodeFacts& facts, api::Time now) const override;
};

}  // namespace controllers::disruption

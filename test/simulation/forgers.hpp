// Whoever may write status in a managed namespace, as no role of ours lets anybody: forges what the operator
// noted, so that claims name Nodes that were always somebody else's (strangers).
#pragma once

#include <memory>
#include <optional>

#include "test/simulation/world.hpp"

namespace simulation {

// In two thirds of the seeds there are none, and no Node but those of machines.
bool has_forgers(const World& world);
// A Node that no machine of ours was ever behind.
bool is_stranger(const api::Node& node);
// A claim whose status was a lie from the first: what it says is nobody's doing but its maker's.
bool is_forged(const NodeSmithClaim& claim);

// A claim with the name of such a Node: no machine may be made for it.
bool bears_name_of_stranger(const NodeSmithClaim& claim);

class Forgers {
public:
    explicit Forgers(World& world);

    void begin();
    // Forged claims that wait for a word of their makers get it.
    void make_peace();

private:
    void arm();
    void act();
    void add_stranger();
    void forge_claim();
    void make_claim();
    void claim_name_of_stranger();
    void lie_of_stranger();
    bool is_beyond_proof(const NodeSmithClaim& claim, const api::Node& node) const;
    void take_back_lies();
    void end_claims();
    const api::Node* any_stranger();

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_;
    std::optional<api::ObjectKey> liar_;  // the Node that says it is a claim's
    int strangers_ = 0;
    int made_ = 0;
};

}  // namespace simulation

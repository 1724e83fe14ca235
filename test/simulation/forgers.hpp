// Forgers may write statuses in a managed namespace, which none of our roles allows. They forge what the
// operator recorded, so that claims name Nodes that never belonged to them (strangers).
#pragma once

#include <memory>
#include <optional>

#include "test/simulation/world.hpp"

namespace simulation {

// Reports whether the world has forgers. Two thirds of the seeds have none, and then every Node belongs to a
// machine.
bool has_forgers(const World& world);
// Reports whether the Node was never one of our machines.
bool is_stranger(const api::Node& node);
// Reports whether the claim's status was forged from the start. Only its maker is responsible for what it
// says.
bool is_forged(const NodeSmithClaim& claim);

// Reports whether the claim has the name of a stranger's Node. No machine may be made for such a claim.
bool bears_name_of_stranger(const NodeSmithClaim& claim);

class Forgers {
public:
    explicit Forgers(World& world);

    void begin();
    // Lets the makers of forged claims answer what these claims ask for.
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
    std::optional<api::ObjectKey> liar_;  // the Node that pretends to be a claim's
    int strangers_ = 0;
    int made_ = 0;
};

}  // namespace simulation

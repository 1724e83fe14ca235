// A quota, a policy or a webhook that refuses for a while, again and again, to let claims be created: those
// of one pool, those of one size, or all. In some worlds with other trouble it also refuses every write of
// one claim.
#pragma once

#include <memory>
#include <string>

#include "test/simulation/outsiders.hpp"

namespace simulation {

// In so many worlds.
inline constexpr double kRefuserShare = 0.3;
std::unique_ptr<Outsider> make_claim_refuser(World& world, double share = kRefuserShare);

}  // namespace simulation

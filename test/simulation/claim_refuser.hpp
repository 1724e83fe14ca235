// A quota, a policy or a webhook that again and again refuses the creation of claims for a while. It refuses
// claims of one pool, of one size, or all. In some worlds with other trouble it also refuses every write to
// one claim.
#pragma once

#include <memory>
#include <string>

#include "test/simulation/outsiders.hpp"

namespace simulation {

// Share of the worlds with a refuser.
inline constexpr double kRefuserShare = 0.3;
std::unique_ptr<Outsider> make_claim_refuser(World& world, double share = kRefuserShare);

}  // namespace simulation

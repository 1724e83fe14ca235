// A rack for scenarios written by hand.
#pragma once

#include <string>

#include "test/simulation/scenario.hpp"

namespace simulation {

// Lets the two pods of a plain scenario's deployment get a host each, of a rack with reliable BMCs.
void use_reliable_rack(Scenario& scenario, const std::string& deployment);

}  // namespace simulation

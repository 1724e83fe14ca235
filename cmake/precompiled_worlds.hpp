// Precompiled headers for the tests of reconcilers.
#pragma once
#include "cmake/precompiled_tests.hpp"
#include "test/unit/controllers/claim_world.hpp"
#include "test/unit/controllers/disruption_world.hpp"
#include "test/unit/controllers/provisioning_world.hpp"

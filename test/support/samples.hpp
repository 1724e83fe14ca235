// Says how much of a long test to run.
#pragma once

#include <cstdlib>

namespace test {

// Returns `whole` where the environment asks for whole tests (KUBENODESMITH_WHOLE_TESTS), and otherwise
// `sample`, which suits a run of all tests.
template <class Amount>
Amount sample_of(Amount whole, Amount sample) {
    return std::getenv("KUBENODESMITH_WHOLE_TESTS") ? whole : sample;
}

}  // namespace test

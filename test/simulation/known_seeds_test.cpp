// Seeds that once violated an invariant, by what they found; docs/simulation.md tells what was mended.
#include "test/simulation/run.hpp"
#include "test/support/catch.hpp"

namespace {

void holds(std::uint64_t seed) {
    simulation::RunOptions options;
    options.seed = seed;
    for (const auto& violation : simulation::run_seed(options).violations)
        FAIL_CHECK(violation.invariant + ": " + violation.message);
}

TEST_CASE("seed 1: an edited mark stops neither the collector nor makes it busy for ever") {
    holds(1);
}

TEST_CASE("seed 33: no machine comes long after its pool's limit was lowered") {
    holds(33);
}

TEST_CASE("seed 37: a claim keeps its place within the limits between two attempts") {
    holds(37);
}

TEST_CASE("seed 68: a start that succeeded before its host went down is no running machine") {
    holds(68);
}

TEST_CASE("seed 106: nobody waits for a claim whose failed machine cannot be removed") {
    holds(106);
}

TEST_CASE("seed 136: a pod is not bought for again while its machine is on its way") {
    holds(136);
}

}  // namespace

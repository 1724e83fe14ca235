#include "test/simulation/run.hpp"

namespace simulation {
namespace {

constexpr std::chrono::hours kSettling{2};
constexpr std::chrono::hours kQuiet{1};

// False: something was violated.
bool run_for(World& world, std::vector<std::unique_ptr<Invariant>>& invariants,
             const std::vector<Violation>& violations, base::Duration duration) {
    auto until = world.now() + duration;
    while (world.now() < until && violations.empty()) {
        const auto before = world.changes();
        world.run_for(std::chrono::seconds{1});
        for (auto& invariant : invariants) {
            if (world.changes() != before) invariant->after_change();
            invariant->each_second();
        }
    }
    return violations.empty();
}

void play(World& world, Operators& operators, Adversary& adversary,
          std::vector<std::unique_ptr<Invariant>>& invariants, const std::vector<Violation>& violations,
          base::Duration trouble) {
    operators.keep(1);
    adversary.begin();
    if (!run_for(world, invariants, violations, trouble)) return;
    world.trace.line("peace", "no more trouble from here on");
    adversary.make_peace();
    if (!run_for(world, invariants, violations, kSettling)) return;
    world.trace.line("peace", "nothing may happen from here on");
    for (auto& invariant : invariants) invariant->at_rest();
    if (!run_for(world, invariants, violations, kQuiet)) return;
    for (auto& invariant : invariants) invariant->at_end();
}

}  // namespace

Outcome run_seed(const RunOptions& options) {
    auto random = base::make_seeded_random(options.seed);
    World world(options.seed, draw_scenario(*random), options.recording);
    Outcome outcome;
    outcome.coverage.watch(world);
    Operators operators(world);
    Adversary adversary(world, operators);
    Stage stage{world, operators, adversary.deeds(), outcome.violations};
    auto invariants = all_invariants(stage);
    play(world, operators, adversary, invariants, outcome.violations, options.trouble);
    outcome.simulated = world.now().time_since_epoch();
    outcome.faults = world.faults.counts();
    outcome.trace = world.trace.lines();
    operators.stop_all();
    world.shut_down();
    return outcome;
}

}  // namespace simulation

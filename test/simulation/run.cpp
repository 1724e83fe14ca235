#include "test/simulation/run.hpp"

#include "test/simulation/forgers.hpp"
#include "test/simulation/neighbours.hpp"
#include "test/simulation/outsiders.hpp"
#include "test/simulation/soak.hpp"
#include "test/simulation/stillness.hpp"
#include "test/simulation/tenants.hpp"
#include "test/support/seeded_random.hpp"

namespace simulation {
namespace {

constexpr std::chrono::hours kSettling{2};
// With a rate limit some of the work waits for the next hour, or for the one after it.
constexpr std::chrono::hours kSettlingAtARate{5};
constexpr std::chrono::hours kQuiet{1};
// A part of a BMC that did not answer is asked again by the first look after an hour.
constexpr std::chrono::minutes kUntilSilentPartsAreAsked{40};
// Limit of handlers and alarms of one seed for each hour with trouble. Busy seeds need a hundred thousand.
// Ten claims may need more than 600,000 if a hung task delays their clones for an hour. Each of them then
// asks again and again.
constexpr std::uint64_t kMostSteps = 2'000'000;

// Returns how long pods forbid their disruption after their start. Only after that time can the removal of
// their nodes go on.
base::Duration longest_protection(const Scenario& scenario) {
    base::Duration longest{};
    for (const auto& deployment : scenario.deployments) {
        const auto* text = api::find(deployment.pod.metadata.annotations, api::annotations::kDoNotDisrupt);
        if (text && *text != "true")
            longest = std::max(longest, base::Duration(api::Duration::parse(*text).value));
    }
    return longest;
}

// Runs the world for a while. Returns false if an invariant was violated.
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

Findings findings_at_rest(const std::vector<std::unique_ptr<Invariant>>& invariants) {
    Findings all;
    for (const auto& invariant : invariants) {
        for (auto& finding : invariant->at_rest()) all.push_back(std::move(finding));
    }
    return all;
}

class Play {
public:
    Play(World& world, std::vector<std::unique_ptr<Invariant>>& invariants, const Stage& stage,
         OtherCluster& others, std::vector<std::unique_ptr<Outsider>> outsiders)
        : world_(world),
          invariants_(invariants),
          stage_(stage),
          stillness_(world),
          tenants_(world),
          forgers_(world),
          neighbours_(world),
          others_(others),
          outsiders_(std::move(outsiders)) {}

    void from_start_to_end(Operators& operators, Adversary& adversary, base::Duration trouble) {
        operators.keep(1);
        adversary.begin();
        tenants_.begin();
        forgers_.begin();
        if (!others_.exists()) neighbours_.begin();
        others_.begin();
        for (auto& outsider : outsiders_) outsider->begin();
        if (!go_on(trouble)) return;
        world_.trace.line("peace", "no more trouble from here on");
        adversary.make_peace();
        tenants_.make_peace();
        forgers_.make_peace();
        neighbours_.make_peace();
        others_.make_peace();
        for (auto& outsider : outsiders_) outsider->make_peace();
        come_to_rest();
    }

private:
    bool go_on(base::Duration duration) { return run_for(world_, invariants_, stage_.violations, duration); }

    base::Duration settling() const {
        const auto& rates = world_.scenario.control_plane.spec.rateLimits;
        const bool is_slow = rates.maxCreationsPerHour > 0 || rates.maxRemovalsPerHour > 0;
        return (is_slow ? kSettlingAtARate : kSettling) + longest_protection(world_.scenario) +
               (quiet_time() - kQuiet);
    }

    // Returns how long nothing is written before the system counts as quiet.
    base::Duration quiet_time() const {
        base::Duration result = kQuiet;
        if (!world_.bmcs.names().empty()) result += kUntilSilentPartsAreAsked;
        return result;
    }

    // Runs until there was a quiet time without a write that left nothing undone. It must begin in time.
    void come_to_rest() {
        const auto latest = world_.now() + settling();
        while (world_.now() < latest) {
            if (!go_on(std::chrono::minutes{1})) return;
            const bool quiet = world_.now() - stillness_.since() >= quiet_time();
            if (quiet && findings_at_rest(invariants_).empty()) return;
        }
        world_.trace.line("peace", "nothing may happen from here on");
        for (const auto& finding : findings_at_rest(invariants_))
            stage_.violate(finding.invariant, finding.message);
        stillness_.begin_count();
        if (!go_on(kQuiet)) return;
        const auto writes = stillness_.counted();
        if (!writes.empty()) stage_.violate("the system goes quiet", writes);
    }

    World& world_;
    std::vector<std::unique_ptr<Invariant>>& invariants_;
    const Stage& stage_;
    Stillness stillness_;
    Tenants tenants_;
    Forgers forgers_;
    Neighbours neighbours_;
    OtherCluster& others_;
    std::vector<std::unique_ptr<Outsider>> outsiders_;
};

}  // namespace

Outcome run_seed(const RunOptions& options) {
    auto random = fake::make_seeded_random(options.seed);
    auto scenario = options.soaks ? soak_scenario() : draw_scenario(*random, options.variety, options.racks);
    if (options.adapt) options.adapt(scenario);
    auto world = std::make_unique<World>(options.seed, std::move(scenario), options.recording);
    if (options.soaks) prepare_soak(*world);
    const auto hours = std::chrono::ceil<std::chrono::hours>(options.trouble).count();
    world->clock.allow(kMostSteps * static_cast<std::uint64_t>(std::max<std::int64_t>(1, hours)));
    Outcome outcome;
    outcome.coverage.watch(*world);
    if (options.watch) options.watch(*world);
    auto operators = std::make_unique<Operators>(*world);
    Adversary adversary(*world, *operators);
    auto others = std::make_unique<OtherCluster>(*world);
    outcome.has_two_clusters = others->exists();
    Stage stage{*world, *operators, adversary.deeds(), outcome.violations, *others, outcome.shared_rack};
    auto invariants = all_invariants(stage);
    if (options.soaks) invariants.push_back(waits_end_with_their_obstacles(stage));
    bool ends = true;
    // The world calls its outsiders until it is shut down.
    Play play{*world, invariants, stage, *others,
              options.soaks ? soak_outsiders(*world) : all_outsiders(*world, *operators)};
    try {
        play.from_start_to_end(*operators, adversary, options.trouble);
    } catch (const fake::VirtualClock::Exhausted& exhausted) {
        ends = false;
        stage.violate("the run ends", exhausted.what());
    }
    outcome.simulated = world->now().time_since_epoch();
    outcome.faults = world->faults.counts();
    outcome.happenings = world->happenings;
    outcome.needed_rights = world->authorization.needed();
    outcome.trace = world->trace.lines();
    if (ends) {
        others->shut_down();
        operators->stop_all();
        world->shut_down();
    } else {
        // Coroutines that are still at work cannot be destroyed. That world is kept until the program ends.
        static_cast<void>(others.release());
        static_cast<void>(operators.release());
        static_cast<void>(world.release());
    }
    return outcome;
}

}  // namespace simulation

#include "scheduling/solver.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "scheduling/nodes/node_digest.hpp"
#include "scheduling/solve.hpp"
#include "scheduling/spread_machines.hpp"

namespace scheduling {

namespace {

constexpr int kMostRounds = 5;

// SolveVariant says how another solve should differ from the first.
struct SolveVariant {
    const MachinePlan* plan = nullptr;
    std::size_t most_machines = kNone;
};

struct RatedResult {
    SolveResult result;
    double price = 0;
    MachinePlan cheaper;  // cheaper machines than this outcome's, unless it follows a plan
    MachinePlan roomier;  // a plan for hosts without room for all pods, unless it follows a plan
};

RatedResult outcome_of(Solve& solve, SolveResult result, const SolveVariant& wish) {
    const auto planner = solve.planner();
    RatedResult outcome;
    outcome.price = planner.price();
    const auto work = planner.work_of(result);
    if (!wish.plan) outcome.cheaper = planner.plan(work);
    if (!wish.plan && !result.unplaced.empty()) outcome.roomier = planner.plan_for_hosts(result);
    result.price = planner.price_of(result, work);
    outcome.result = std::move(result);
    return outcome;
}

// Solves repeatedly until machines and DaemonSet pods agree. New machines run DaemonSet pods, which may
// count in a spread or affinity over zones. Then places of pods depend on the machines, and machines
// depend on the pods. If they never agree, only what is right without the rest is launched. The rest
// follows when the first machines exist.
RatedResult solve_in_rounds(const Snapshot& snapshot, NodeDigests& digests, const SolveVariant& wish) {
    std::optional<std::vector<std::size_t>> expected = std::vector<std::size_t>();
    for (int round = 1;; ++round) {
        if (round > kMostRounds) expected.reset();
        Solve solve(snapshot, digests, LaunchFor::everybody, Patience::for_coming_nodes, expected);
        if (wish.plan) solve.follow(*wish.plan);
        solve.launch_at_most(wish.most_machines);
        auto result = solve.run();
        auto rows = solve.rows_with_shared_daemons();
        if (!expected || rows == *expected) return outcome_of(solve, std::move(result), wish);
        expected = std::move(rows);
    }
}

bool leaves_nobody_else(const SolveResult& a, const SolveResult& b) {
    std::set<const api::Pod*> left;
    for (const auto& unplaced : b.unplaced) left.insert(unplaced.pod);
    return std::ranges::all_of(a.unplaced, [&](const Unplaced& each) { return left.contains(each.pod); });
}

// Reports whether `a` is better. Every pod with a place in `b` has one in `a`. In addition more pods have
// one, it costs less, or it costs the same with fewer machines.
bool is_better(const RatedResult& a, const RatedResult& b) {
    const auto rank = [](const RatedResult& outcome) {
        return std::tuple(outcome.result.unplaced.size(), outcome.result.demand_unmet, outcome.price,
                          outcome.result.claims.size());
    };
    // Few machines may leave pods no domain but one, and then the kube-scheduler counts that one alone.
    const bool places_more = a.result.unplaced.size() < b.result.unplaced.size();
    if (a.result.is_last_resort && !b.result.is_last_resort && !places_more) return false;
    return rank(a) < rank(b) && leaves_nobody_else(a.result, b.result);
}

// Takes the reasons of pods without a place from a solve that could launch any number of machines. A solve
// with a limit cannot explain that limit, which is not the pods' problem.
void take_reasons(SolveResult& limited, const SolveResult& unlimited) {
    std::map<const api::Pod*, const std::vector<std::string>*> reasons;
    for (const auto& unplaced : unlimited.unplaced) reasons.emplace(unplaced.pod, &unplaced.reasons);
    for (auto& unplaced : limited.unplaced)
        if (const auto found = reasons.find(unplaced.pod); found != reasons.end())
            unplaced.reasons = *found->second;
}

// Follows the outcome's plans for other machines.
void pack(const Snapshot& snapshot, NodeDigests& digests, SolveVariant wish, RatedResult& best) {
    for (const auto& plan : {std::move(best.cheaper), std::move(best.roomier)}) {
        if (plan.machines.empty()) continue;
        wish.plan = &plan;
        auto packed = solve_in_rounds(snapshot, digests, wish);
        if (is_better(packed, best)) best = std::move(packed);
    }
}

}  // namespace

Solver::Solver() : digests_(std::make_unique<NodeDigests>()) {}
Solver::~Solver() = default;

// Filling machines with the largest pods first is fast and follows every rule, but ignores prices. If the
// price is too high, the machines are filled in other ways, and the cheapest solve is used.
SolveResult Solver::solve(const Snapshot& snapshot) {
    digests_->prepare(snapshot);
    auto best = solve_in_rounds(snapshot, *digests_, {});
    const auto simple = best.result.price.machines;
    const auto counts = machine_counts_to_try(snapshot, best.result);
    pack(snapshot, *digests_, {}, best);
    for (const auto count : counts) {
        const SolveVariant wish{nullptr, count};
        auto few = solve_in_rounds(snapshot, *digests_, wish);
        if (!is_better(few, best)) continue;
        pack(snapshot, *digests_, wish, few);
        take_reasons(few.result, best.result);
        best = std::move(few);
        break;
    }
    best.result.price.simple = simple;
    return std::move(best.result);
}

SolveResult solve(const Snapshot& snapshot) {
    return Solver().solve(snapshot);
}

}  // namespace scheduling

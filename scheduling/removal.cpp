#include "scheduling/removal.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "scheduling/amount_text.hpp"
#include "scheduling/machines/machine_sizes.hpp"
#include "scheduling/solve.hpp"

namespace scheduling {

namespace {

constexpr std::int64_t kPercent = 100;

std::string name_of(const api::Pod& pod) {
    return pod.metadata.namespace_ + "/" + pod.metadata.name;
}

std::string new_machines(std::size_t count) {
    return count == 1 ? "a new machine" : counted(static_cast<std::int64_t>(count), "new machine");
}

Price price_of(Solve& solve, const SolveResult& result) {
    const auto planner = solve.planner();
    return planner.price_of(result, planner.work_of(result));
}

// Returns the claim's future machine as an existing node.
NodeInfo node_of(const Snapshot& snapshot, const NewClaim& claim, std::size_t number) {
    const auto& pool = snapshot.pools[claim.pool];
    api::Node object;
    object.metadata.name = "replacement-" + std::to_string(number);
    *object.metadata.labels = pool.labels;
    const auto place = std::ranges::find(pool.places, claim.place, &PlaceOfPool::place);
    for (const auto& [key, value] : place->labels) object.metadata.labels[key] = value;
    object.metadata.labels[std::string(api::labels::kHostname)] = object.metadata.name;
    object.spec.taints = pool.taints;
    object.status.allocatable = expected_allocatable(pool, {claim.cpu_cores, claim.memory_mib});
    NodeInfo node;
    node.node = std::make_shared<const api::Node>(std::move(object));
    node.pool = claim.pool;
    return node;
}

class RemovalCheck {
public:
    // `after` is the snapshot with the nodes leaving, and `base` is the result without that. The plan is for
    // replacements; nullptr: each pod, the largest first, is placed where it fits.
    RemovalCheck(const Snapshot& after, const SolveResult& base, NodeDigests& digests,
                 const RemovalRequest& request, PlacementOrder order, const MachinePlan* plan = nullptr)
        : request_(request),
          leaving_(request.nodes.begin(), request.nodes.end()),
          base_(base),
          solve_(after, digests, LaunchFor::displaced_pods,
                 request.may_wait ? Patience::for_coming_nodes : Patience::none, {}, order) {
        if (plan) solve_.follow(*plan);
        result_ = solve_.run();
        for (const auto node : request.nodes)
            for (const auto& pod : after.nodes[node].pods) displaced_.insert(pod.get());
    }

    // Returns a plan for cheaper replacements; empty if there are none. Must be called before run().
    MachinePlan cheaper() {
        const auto planner = solve_.planner();
        return planner.plan(planner.work_of(result_));
    }

    Removal run(const Snapshot& snapshot) {
        note_price();
        check_waiting_pods(snapshot);
        check_displaced_pods();
        check_demand();
        check_replacements();
        check_headroom(snapshot);
        removal_.possible = removal_.reasons.empty();
        return std::move(removal_);
    }

private:
    void deny(std::string reason) { removal_.reasons.push_back(std::move(reason)); }

    void note_price() {
        removal_.price = price_of(solve_, result_);
        removal_.price.machines -= base_.price.machines;
        removal_.price.least -= base_.price.least;
    }

    void check_waiting_pods(const Snapshot& snapshot) {
        for (const auto& placement : base_.placements)
            if (placement.node && leaving_.contains(*placement.node))
                deny("pod " + name_of(*placement.pod) +
                     (placement.pod->spec.nodeName.empty() ? " is pending and fits on "
                                                           : " moves off another node and fits on ") +
                     snapshot.nodes[*placement.node].node->metadata.name);
    }

    void check_displaced_pods() {
        for (const auto& unplaced : result_.unplaced)
            if (displaced_.contains(unplaced.pod))
                deny("pod " + name_of(*unplaced.pod) + " fits no other node" +
                     (request_.emptiest_first ? " once the others have moved to the emptiest nodes"
                                              : "; " + unplaced.reasons.front()));
        for (const auto& placement : result_.placements)
            if (displaced_.contains(placement.pod)) removal_.moves.push_back(placement);
    }

    void check_demand() {
        if (result_.demand_unmet > base_.demand_unmet)
            deny(
                "it is needed for the minimum number of nodes or for spare room, and no other machine can be "
                "created");
    }

    void check_replacements() {
        const auto before = std::min(base_.claims.size(), result_.claims.size());
        const auto more = result_.claims.size() - before;
        if (const auto spare = spare_reason(); more > request_.most_replacements && !spare.empty())
            deny("without it a new machine would be needed " + spare);
        else if (more > request_.most_replacements)
            deny("its pods fit nowhere else without " + new_machines(more) + pods_of_new_machines() +
                 " (a removal may " +
                 (request_.most_replacements == 0
                      ? std::string("not create one")
                      : "create " + std::to_string(request_.most_replacements) + " at most") +
                 ")");
        removal_.replacements = std::move(result_.claims);
    }

    // Returns the reason if all new machines are for a minimum or spare room; empty: some are for pods.
    std::string spare_reason() const {
        const auto has_pods = [](const NewClaim& claim) { return !claim.pods.empty(); };
        if (result_.claims.empty() || std::ranges::any_of(result_.claims, has_pods)) return {};
        return result_.claims.back().reason;
    }

    // Names the displaced pods that get new machines.
    std::string pods_of_new_machines() const {
        constexpr std::size_t kMostNamed = 3;
        std::vector<std::string> names;
        for (const auto& placement : result_.placements)
            if (placement.claim && displaced_.contains(placement.pod))
                names.push_back(name_of(*placement.pod));
        return names.empty() ? "" : " for " + base::joined_first(names, kMostNamed);
    }

    void check_headroom(const Snapshot& snapshot) {
        if (request_.headroom_percent <= 0) return;
        std::set<std::size_t> pools;
        for (const auto node : leaving_)
            if (snapshot.nodes[node].pool) pools.insert(*snapshot.nodes[node].pool);
        for (const auto pool : pools) {
            const auto use = solve_.use_of(pool);
            const auto is_short = [&](Base resource) {
                return use.free.base[resource] <
                       use.allocatable.base[resource] / kPercent * request_.headroom_percent;
            };
            if (is_short(kCpu) || is_short(kMemory))
                deny("pool " + snapshot.pools[pool].name + " would drop below its " +
                     std::to_string(request_.headroom_percent) + " % headroom");
        }
    }

    const RemovalRequest& request_;
    std::set<std::size_t> leaving_;
    const SolveResult& base_;
    Solve solve_;
    SolveResult result_;
    std::set<const api::Pod*> displaced_;
    Removal removal_;
};

}  // namespace

Removal Solver::simulate_removal(const Snapshot& snapshot, const RemovalRequest& request) {
    return Removals(*this, snapshot).simulate(request);
}

Removal simulate_removal(const Snapshot& snapshot, const RemovalRequest& request) {
    return Solver().simulate_removal(snapshot, request);
}

struct Removals::State {
    State(NodeDigests& known, const Snapshot& snapshot) : digests(known), after(snapshot) {
        Solve solve(snapshot, known, LaunchFor::displaced_pods, Patience::none);
        base = solve.run();
        base.price = price_of(solve, base);
    }

    Removal check(const RemovalRequest& request) {
        if (!request.emptiest_first) return check(request, {});
        if (request.most_replacements == 0) return check_in_both_orders(request);
        auto removal = cheapest(request);
        if (!removal.possible) return removal;
        auto with_replacements = request;
        with_replacements.most_replacements = 0;
        const auto nodes = after.nodes.size();
        for (const auto& claim : removal.replacements)
            after.nodes.push_back(node_of(after, claim, after.nodes.size() - nodes));
        removal.possible = check_in_both_orders(with_replacements).possible;
        after.nodes.resize(nodes);
        if (!removal.possible)
            removal.reasons = {"its pods fit on " + new_machines(removal.replacements.size()) +
                               " only if the pods are scheduled in the right order"};
        return removal;
    }

    NodeDigests& digests;
    Snapshot after;  // the snapshot, except while a removal is judged
    SolveResult base;

private:
    Removal check(const RemovalRequest& request, PlacementOrder order) {
        return RemovalCheck(after, base, digests, request, order).run(after);
    }

    Removal check_in_both_orders(const RemovalRequest& request) {
        auto removal = check(request, {NodeOrder::emptiest_first});
        if (!removal.possible) return removal;
        auto in_reverse = check(request, {NodeOrder::emptiest_first, true});
        return in_reverse.possible ? removal : in_reverse;
    }

    Removal cheapest(const RemovalRequest& request) {
        RemovalCheck simple(after, base, digests, request, {});
        const auto plan = simple.cheaper();
        auto removal = simple.run(after);
        if (plan.machines.empty()) return removal;
        auto packed = RemovalCheck(after, base, digests, request, {}, &plan).run(after);
        const bool is_better =
            packed.possible && (!removal.possible || packed.price.machines < removal.price.machines);
        return is_better ? packed : removal;
    }
};

Removals::Removals(Solver& solver, const Snapshot& snapshot) {
    solver.digests_->prepare(snapshot);
    state_ = std::make_unique<State>(*solver.digests_, snapshot);
}
Removals::~Removals() = default;

Removal Removals::simulate(const RemovalRequest& request) {
    auto& nodes = state_->after.nodes;
    std::vector<std::pair<Availability, bool>> before;
    for (const auto node : request.nodes) {
        before.emplace_back(nodes[node].availability, nodes[node].is_vacated_domain);
        nodes[node].availability = Availability::leaving;
        nodes[node].is_vacated_domain = request.before_they_are_gone;
    }
    auto removal = state_->check(request);
    for (std::size_t i = 0; i < before.size(); ++i) {
        nodes[request.nodes[i]].availability = before[i].first;
        nodes[request.nodes[i]].is_vacated_domain = before[i].second;
    }
    return removal;
}

}  // namespace scheduling

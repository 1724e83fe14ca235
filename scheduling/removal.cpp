#include <algorithm>
#include <set>

#include "scheduling/amount_text.hpp"
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

class RemovalCheck {
public:
    // `after` is the snapshot with the nodes leaving, `base` what is solved without that.
    RemovalCheck(const Snapshot& after, const Result& base, NodeDigests& digests,
                 const RemovalRequest& request, PlacementOrder order)
        : request_(request),
          leaving_(request.nodes.begin(), request.nodes.end()),
          base_(base),
          solve_(after, digests, LaunchFor::displaced_pods,
                 request.may_wait ? Patience::for_coming_nodes : Patience::none, {}, order),
          result_(solve_.run()) {
        for (const auto node : request.nodes)
            for (const auto& pod : after.nodes[node].pods) displaced_.insert(pod.get());
    }

    Removal run(const Snapshot& snapshot) {
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

    void check_waiting_pods(const Snapshot& snapshot) {
        for (const auto& placement : base_.placements)
            if (placement.node && leaving_.contains(*placement.node))
                deny("pod " + name_of(*placement.pod) + " waits and fits on " +
                     snapshot.nodes[*placement.node].node->metadata.name);
    }

    void check_displaced_pods() {
        for (const auto& unplaced : result_.unplaced)
            if (displaced_.contains(unplaced.pod))
                deny("pod " + name_of(*unplaced.pod) + " fits no other node" +
                     (request_.emptiest_first ? " once the others went where most is free"
                                              : "; " + unplaced.reasons.front()));
        for (const auto& placement : result_.placements)
            if (displaced_.contains(placement.pod)) removal_.moves.push_back(placement);
    }

    void check_demand() {
        if (result_.demand_unmet > base_.demand_unmet)
            deny("it is needed for minimal nodes or spare room, and no other machine can be created");
    }

    void check_replacements() {
        const auto before = std::min(base_.claims.size(), result_.claims.size());
        const auto more = result_.claims.size() - before;
        if (more > request_.most_replacements)
            deny("its pods fit nowhere else without " + new_machines(more) + " (a removal may " +
                 (request_.most_replacements == 0
                      ? std::string("not create one")
                      : "create " + std::to_string(request_.most_replacements) + " at most") +
                 ")");
        removal_.replacements = std::move(result_.claims);
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
    const Result& base_;
    Solve solve_;
    Result result_;
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
    State(NodeDigests& known, const Snapshot& snapshot)
        : digests(known),
          after(snapshot),
          base(Solve(snapshot, known, LaunchFor::displaced_pods, Patience::none).run()) {}

    Removal check(const RemovalRequest& request) {
        if (!request.emptiest_first) return check(request, {});
        auto removal = check(request, {NodeOrder::emptiest_first});
        if (!removal.possible) return removal;
        auto in_reverse = check(request, {NodeOrder::emptiest_first, true});
        return in_reverse.possible ? removal : in_reverse;
    }

    NodeDigests& digests;
    Snapshot after;  // the snapshot, but while a removal is judged
    Result base;

private:
    Removal check(const RemovalRequest& request, PlacementOrder order) {
        return RemovalCheck(after, base, digests, request, order).run(after);
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

#include "scheduling/solve.hpp"

#include <algorithm>

#include "scheduling/explanation.hpp"
#include "scheduling/fullness.hpp"

namespace scheduling {

namespace {

constexpr int kMostRounds = 5;

// The largest machine or node, by each resource: the measure of pods.
Amounts largest_offer(const Snapshot& snapshot, const Rows& rows, ResourceNames& names) {
    Amounts largest;
    for (const auto& pool : snapshot.pools) largest = at_least(largest, MachineSizes(pool, names).largest());
    for (std::size_t row = 0; row < rows.nodes(); ++row) largest = at_least(largest, rows.allocatable(row));
    return largest;
}

}  // namespace

Solve::Solve(const Snapshot& snapshot, NodeDigests& digests, Buyers buyers, Patience patience,
             std::optional<std::vector<std::size_t>> expected, Order order)
    : snapshot_(snapshot),
      buyers_(buyers),
      expected_(std::move(expected)),
      classes_(digests.label_sets(), digests.resource_names()),
      rows_(snapshot, digests),
      daemons_(snapshot, rows_, classes_.resource_names()),
      demand_(ordered_demand(snapshot, classes_, largest_offer(snapshot, rows_, classes_.resource_names()),
                             buyers == Buyers::displaced_pods)),
      placer_(snapshot, classes_, rows_, daemons_, order.nodes),
      pods_on_(rows_.nodes()) {
    for (std::size_t row = 0; row < rows_.nodes(); ++row) pods_on_[row] = rows_.digest(row).own_pods;
    // A displaced pod runs: where its node's removal is judged it has a place or it has none. Where machines
    // are bought, one that is coming serves it; otherwise each look would buy another.
    if (patience == Patience::none)
        for (auto& demand : demand_) demand.can_wait = !demand.is_displaced;
    if (order.displaced_in_reverse)
        std::ranges::reverse(std::ranges::find(demand_, true, &Demand::comes_last), demand_.end());
}

Result Solve::run() {
    place_all();
    auto spare = buy_spare(snapshot_, rows_, placer_, pods_on_);
    describe_claims(spare);
    for (auto& cut : spare.cuts) cuts_.emplace(cut.budget, std::move(cut.message));
    for (auto& [budget, message] : cuts_) result_.cuts.push_back({budget, std::move(message)});
    result_.demand_unmet = spare.unmet;
    return std::move(result_);
}

// A pod that found no place because of pods that come later in the order (its affinity, a spread) is tried
// again as long as that helps.
template <class Place>
void Solve::place_until_stuck(std::vector<const Demand*>& waiting, const Place& place) {
    bool is_first_round = true;
    for (bool goes_on = true; goes_on; is_first_round = false) {
        const auto before = std::pair(waiting.size(), placer_.given_up());
        std::erase_if(waiting, [&](const Demand* demand) {
            return (is_first_round || placer_.may_change(demand->pod_class)) && note(*demand, place(*demand));
        });
        goes_on = before != std::pair(waiting.size(), placer_.given_up());
    }
}

// The kube-scheduler uses nodes that are ready while those that are bought are still on their way. So what
// fits there is placed before anything is planned for later, and counts in what is planned.
void Solve::place_all() {
    std::vector<const Demand*> waiting;
    waiting.reserve(demand_.size());
    for (const auto& demand : demand_) waiting.push_back(&demand);
    for (const auto* demand : waiting) placer_.hold_decided(*demand);
    place_until_stuck(waiting, [&](const Demand& demand) { return placer_.place_now(demand); });
    result_.placed_now = result_.placements.size();
    if (expected_)
        placer_.expect_machines(*expected_);
    else
        placer_.protect_placed();
    const auto place_later = [&](const Demand& demand) {
        const bool may_buy = buyers_ == Buyers::everybody || demand.is_displaced;
        return may_buy ? placer_.place(demand) : placer_.place_on_node(demand);
    };
    place_until_stuck(waiting, place_later);
    place_until_stuck(waiting, [&](const Demand& demand) {
        const bool may_buy = buyers_ == Buyers::everybody || demand.is_displaced;
        const auto slot = place_later(demand);
        return slot != kNone || !may_buy ? slot : placer_.place_as_last_resort(demand);
    });
    for (const auto* demand : waiting) refuse(*demand);
}

bool Solve::note(const Demand& demand, std::size_t slot) {
    if (slot == kNone) return false;
    if (slot >= pods_on_.size()) pods_on_.resize(slot + 1);
    ++pods_on_[slot];
    Placement placement;
    placement.pod = demand.pod;
    if (slot < rows_.nodes())
        placement.node = rows_.node_at(slot);
    else
        placement.claim = slot - rows_.nodes();
    result_.placements.push_back(placement);
    return true;
}

void Solve::refuse(const Demand& demand) {
    Unplaced unplaced;
    unplaced.pod = demand.pod;
    if (auto problem = placer_.problem_of(demand.pod_class); !problem.empty()) {
        unplaced.reasons.push_back(std::move(problem));
        result_.unplaced.push_back(std::move(unplaced));
        return;
    }
    for (const auto pool : placer_.pool_order()) {
        auto why = explain(snapshot_, placer_, classes_, demand.pod_class, pool);
        if (why.budget != kNone) cuts_.emplace(why.budget, why.cut);
        unplaced.reasons.push_back(std::move(why.text));
    }
    if (unplaced.reasons.empty()) unplaced.reasons.emplace_back("there is no pool that could create a node");
    result_.unplaced.push_back(std::move(unplaced));
}

void Solve::describe_claims(const SpareResult& spare) {
    const auto& purchases = placer_.purchases();
    for (std::size_t i = 0; i < purchases.size(); ++i) {
        const auto& purchase = purchases.at(i);
        auto& claim = result_.claims.emplace_back();
        claim.pool = purchase.pool;
        claim.cpu_cores = purchase.size.cpu_cores;
        claim.memory_mib = purchase.size.memory_mib;
        if (const auto* shape = purchases.machines(purchase.pool).shape(purchase.size))
            claim.shape = shape->name;
        claim.place = snapshot_.pools[purchase.pool].places[purchase.place].place;
        claim.zone = zone_of(purchase);
        if (const auto reason = spare.reasons.find(i); reason != spare.reasons.end())
            claim.reason = reason->second;
    }
    for (const auto& placement : result_.placements)
        if (placement.claim) result_.claims[*placement.claim].pods.push_back(placement.pod);
    const Fullness fullness(placer_, demand_);
    for (std::size_t i = 0; i < purchases.size(); ++i)
        result_.claims[i].is_full = fullness.is_full(i, result_.claims[i].pods);
}

// Empty while its pods leave all of the pool's places open.
std::string Solve::zone_of(const Purchase& purchase) const {
    const auto& places = snapshot_.pools[purchase.pool].places;
    if (purchase.allowed == BitSet::all(places.size())) return {};
    return places[purchase.place].zone;
}

Solve::Use Solve::use_of(std::size_t pool) const {
    Use use;
    for (std::size_t row = 0; row < rows_.ready(); ++row) {
        if (rows_.node(row).pool != pool) continue;
        use.allocatable += rows_.allocatable(row);
        use.free += placer_.free_on_node(row);
    }
    const auto& purchases = placer_.purchases();
    for (std::size_t i = 0; i < purchases.size(); ++i) {
        if (purchases.at(i).pool != pool) continue;
        use.allocatable += purchases.machines(pool).allocatable(purchases.at(i).size);
        use.free += purchases.free(i);
    }
    return use;
}

std::vector<std::size_t> Solve::rows_with_shared_daemons() const {
    std::vector<std::size_t> rows;
    if (!placer_.topology().has_shared_daemons()) return rows;
    const auto& purchases = placer_.purchases();
    for (std::size_t i = 0; i < purchases.size(); ++i)
        rows.push_back(placer_.template_row(purchases.at(i).pool, purchases.at(i).place));
    std::sort(rows.begin(), rows.end());
    return rows;
}

Solver::Solver() : digests_(std::make_unique<NodeDigests>()) {}
Solver::~Solver() = default;

// MachineSizes come with pods of DaemonSets. Where those count in a spread or affinity over zones, it takes
// the machines to know where pods may be, and the pods to know the machines: tried until both agree. Where
// they never do, only so much is bought as is right without the rest, which follows when the first machines
// are there.
Result Solver::solve(const Snapshot& snapshot) {
    digests_->prepare(snapshot);
    std::vector<std::size_t> expected;
    for (int round = 1; round <= kMostRounds; ++round) {
        Solve solve(snapshot, *digests_, Buyers::everybody, Patience::for_coming_nodes, expected);
        auto result = solve.run();
        auto rows = solve.rows_with_shared_daemons();
        if (rows == expected) return result;
        expected = std::move(rows);
    }
    return Solve(snapshot, *digests_, Buyers::everybody, Patience::for_coming_nodes, std::nullopt).run();
}

Result solve(const Snapshot& snapshot) {
    return Solver().solve(snapshot);
}

}  // namespace scheduling

#include "scheduling/solve.hpp"

#include <algorithm>
#include <unordered_map>

#include "scheduling/explanation.hpp"
#include "scheduling/fullness.hpp"

namespace scheduling {

namespace {

// Returns the maximum of all machines and nodes for each resource, as the measure of pods.
Amounts largest_offer(const Snapshot& snapshot, const Rows& rows, ResourceNames& names) {
    Amounts largest;
    for (const auto& pool : snapshot.pools) largest = at_least(largest, MachineSizes(pool, names).largest());
    for (std::size_t row = 0; row < rows.nodes(); ++row) largest = at_least(largest, rows.allocatable(row));
    return largest;
}

}  // namespace

Solve::Solve(const Snapshot& snapshot, NodeDigests& digests, LaunchFor launch_for, Patience patience,
             std::optional<std::vector<std::size_t>> expected, PlacementOrder order)
    : snapshot_(snapshot),
      launch_for_(launch_for),
      expected_(std::move(expected)),
      classes_(digests.label_sets(), digests.resource_names()),
      rows_(snapshot, digests),
      daemons_(snapshot, rows_, classes_.resource_names()),
      demand_(ordered_demand(snapshot, classes_, largest_offer(snapshot, rows_, classes_.resource_names()),
                             launch_for == LaunchFor::displaced_pods)),
      placer_(snapshot, classes_, rows_, daemons_, order.nodes),
      pods_on_(rows_.nodes()) {
    for (std::size_t row = 0; row < rows_.nodes(); ++row) pods_on_[row] = rows_.digest(row).own_pods;
    // A displaced pod is running. If its node's removal is judged, it must have a place now. If machines are
    // launched, a machine that is being created suffices; otherwise each look would launch another one.
    if (patience == Patience::none)
        for (auto& demand : demand_) demand.can_wait = !demand.is_displaced;
    if (order.displaced_in_reverse)
        std::ranges::reverse(std::ranges::find(demand_, true, &Demand::comes_last), demand_.end());
}

SolveResult Solve::run() {
    place_all();
    auto spare = add_spare(snapshot_, rows_, placer_, pods_on_);
    describe_claims(spare);
    for (auto& cut : spare.cuts) cuts_.emplace(cut.budget, std::move(cut.message));
    for (auto& [budget, message] : cuts_) result_.cuts.push_back({budget, std::move(message)});
    result_.demand_unmet = spare.unmet;
    for (const auto& daemon : daemons_.all())
        if (!daemon.oversized_for.empty())
            result_.oversized_daemons.push_back(
                {daemon.pod.metadata.namespace_, daemon.pod.metadata.name, daemon.oversized_for});
    return std::move(result_);
}

// Places pods repeatedly while that helps. A pod may have found no place because of pods later in
// the order (its affinity, a spread).
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

// Places what fits ready nodes first, because the kube-scheduler uses them while new ones are being created.
// These placements then count in later plans.
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
        const bool may_launch = launch_for_ == LaunchFor::everybody || demand.is_displaced;
        return may_launch ? placer_.place(demand) : placer_.place_on_node(demand);
    };
    place_until_stuck(waiting, place_later);
    place_until_stuck(waiting, [&](const Demand& demand) {
        const bool may_launch = launch_for_ == LaunchFor::everybody || demand.is_displaced;
        auto slot = place_later(demand);
        if (slot != kNone || !may_launch) return slot;
        slot = placer_.place_as_last_resort(demand);
        result_.is_last_resort = result_.is_last_resort || slot != kNone;
        return slot;
    });
    for (const auto* demand : waiting) refuse(*demand);
}

bool Solve::note(const Demand& demand, std::size_t slot) {
    if (slot == kNone) return false;
    if (slot >= pods_on_.size()) pods_on_.resize(slot + 1);
    ++pods_on_[slot];
    PodPlacement placement;
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
    unplaced.reasons = reasons_of(demand.pod_class);
    result_.unplaced.push_back(std::move(unplaced));
}

// An explanation may look at all pods, so pods of one class share it. It holds for all of them, because pods
// are refused only after all others are placed.
const std::vector<std::string>& Solve::reasons_of(ClassId pod_class) {
    const auto [entry, is_new] = reasons_.try_emplace(pod_class);
    auto& reasons = entry->second;
    if (!is_new) return reasons;
    std::vector<LaunchObstacle> obstacles;
    for (const auto pool : placer_.pool_order()) {
        auto why = explain(snapshot_, placer_, classes_, pod_class, pool);
        if (why.budget != kNone) cuts_.emplace(why.budget, why.cut);
        obstacles.push_back(std::move(why));
    }
    reasons = summary_of(std::move(obstacles));
    if (reasons.empty())
        reasons.emplace_back("there is no pool that could create a node: create a NodeSmithPool");
    return reasons;
}

void Solve::describe_claims(const SpareResult& spare) {
    const auto& new_machines = placer_.new_machines();
    for (std::size_t i = 0; i < new_machines.size(); ++i) {
        const auto& new_machine = new_machines.at(i);
        auto& claim = result_.claims.emplace_back();
        claim.pool = new_machine.pool;
        claim.cpu_cores = new_machine.size.cpu_cores;
        claim.memory_mib = new_machine.size.memory_mib;
        if (const auto* shape = new_machines.machines(new_machine.pool).shape(new_machine.size))
            claim.shape = shape->name;
        claim.place = snapshot_.pools[new_machine.pool].places[new_machine.place].place;
        claim.zone = zone_of(new_machine);
        if (const auto reason = spare.reasons.find(i); reason != spare.reasons.end())
            claim.reason = reason->second;
    }
    for (const auto& placement : result_.placements)
        if (placement.claim) result_.claims[*placement.claim].pods.push_back(placement.pod);
    name_only_places();
    const Fullness fullness(placer_, demand_);
    for (std::size_t i = 0; i < new_machines.size(); ++i)
        result_.claims[i].is_full = fullness.is_full(i, result_.claims[i].pods);
}

// Names the zones of claims whose pods have volumes that are bound to the only present place. Another place
// may exist before the machine is created.
void Solve::name_only_places() {
    std::unordered_map<const api::Pod*, NewClaim*> claim_of;
    for (auto& claim : result_.claims)
        if (snapshot_.pools[claim.pool].places.size() == 1 && claim.zone.empty())
            for (const auto* pod : claim.pods) claim_of.emplace(pod, &claim);
    if (claim_of.empty()) return;
    for (const auto& demand : demand_) {
        const auto found = claim_of.find(demand.pod);
        if (found == claim_of.end()) continue;
        const auto& place = snapshot_.pools[found->second->pool].places.front();
        const auto names_place = [&place](const api::NodeSelectorTerm& term) {
            return std::ranges::any_of(term.matchExpressions, [&place](const auto& requirement) {
                return place.labels.contains(requirement.key);
            });
        };
        for (const auto& tie : placer_.plan(demand.pod_class).volumes.ties)
            if (std::ranges::any_of(tie.selector->nodeSelectorTerms, names_place))
                found->second->zone = place.zone;
    }
}

// Returns an empty zone while the machine's pods leave all of the pool's places open.
std::string Solve::zone_of(const NewMachine& new_machine) const {
    const auto& places = snapshot_.pools[new_machine.pool].places;
    if (new_machine.allowed == BitSet::all(places.size())) return {};
    return places[new_machine.place].zone;
}

Solve::Use Solve::use_of(std::size_t pool) const {
    Use use;
    for (std::size_t row = 0; row < rows_.ready(); ++row) {
        if (rows_.node(row).pool != pool) continue;
        use.allocatable += rows_.allocatable(row);
        use.free += placer_.free_on_node(row);
    }
    const auto& new_machines = placer_.new_machines();
    for (std::size_t i = 0; i < new_machines.size(); ++i) {
        if (new_machines.at(i).pool != pool) continue;
        use.allocatable += new_machines.machines(pool).allocatable(new_machines.at(i).size);
        use.free += new_machines.free(i);
    }
    return use;
}

std::vector<std::size_t> Solve::rows_with_shared_daemons() const {
    std::vector<std::size_t> rows;
    if (!placer_.topology().has_shared_daemons()) return rows;
    const auto& new_machines = placer_.new_machines();
    for (std::size_t i = 0; i < new_machines.size(); ++i)
        rows.push_back(placer_.template_row(new_machines.at(i).pool, new_machines.at(i).place));
    std::ranges::sort(rows);
    return rows;
}

}  // namespace scheduling

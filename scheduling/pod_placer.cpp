#include "scheduling/pod_placer.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace scheduling {

namespace {

// A soft rule is worth a limited amount of time.
constexpr std::size_t kMostSparingLooks = 256;

Room room_of(const Amounts& free) {
    if (free.base[kPods] <= 0) return {};
    return {free.base[kCpu], free.base[kMemory]};
}

std::vector<std::size_t> pools_in_order(const Snapshot& snapshot) {
    std::vector<std::size_t> order(snapshot.pools.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        const auto& left = snapshot.pools[a];
        const auto& right = snapshot.pools[b];
        if (left.weight != right.weight) return left.weight > right.weight;
        return std::tie(left.namespace_, left.name, a) < std::tie(right.namespace_, right.name, b);
    });
    return order;
}

}  // namespace

PodPlacer::PodPlacer(const Snapshot& snapshot, PodClasses& classes, Rows& rows, const Daemons& daemons,
                     NodeOrder order)
    : snapshot_(snapshot),
      rows_(rows),
      order_(order),
      topology_(snapshot, rows, classes, classes.label_sets(), daemons),
      plans_(snapshot, classes, rows, topology_),
      ports_(rows, daemons),
      volume_usage_(snapshot, rows, plans_.volumes()),
      free_(daemons.free_on_nodes(rows)),
      new_machines_(
          snapshot,
          [&](std::size_t pool, std::size_t place, const Amounts& offered) {
              return daemons.taken_of_machine(pool, rows.templates_of(pool) + place, offered);
          },
          classes.resource_names()),
      pool_order_(pools_in_order(snapshot)) {
    for (const auto& free : free_) room_.append(room_of(free));
    for (ClassId id = 0; id < classes.size(); ++id) topology_.read(id);
    topology_.count_existing();
    note_purposes();
}

void PodPlacer::note_purposes() {
    for (std::size_t row = 0; row < rows_.nodes(); ++row)
        for (const auto& uid : rows_.node(row).launched_for) decided_.emplace(uid, row);
}

PodPlacer::Attempt PodPlacer::attempt(PlacementPlan& plan, Kept kept, Basis basis, bool commits) {
    Attempt attempt{plan, plans_.variant(plan, kept), basis, commits, {}, {}};
    if (basis == Basis::existing || !may_launch()) settle_new_machines(attempt.variant.rules);
    topology_.limits(attempt.variant.rules, basis, attempt.limits);
    topology_.limits(plan.others, Basis::existing, attempt.limits_of_others);
    return attempt;
}

// Adds machines that are new since the candidates were last used.
void PodPlacer::learn_slots(Candidates& candidates) {
    for (; candidates.known_slots < room_.size(); ++candidates.known_slots) {
        const auto& new_machine = new_machines_.at(candidates.known_slots - rows_.nodes());
        if (new_machine.allowed.intersects(candidates.places[new_machine.pool]))
            candidates.slots.insert(candidates.known_slots);
    }
}

bool PodPlacer::spares_others(const Attempt& attempt, std::size_t slot, std::size_t row) const {
    return topology_.spares(attempt.plan.others, attempt.limits_of_others, slot, row);
}

// Returns the first slot that holds the pod. Three indices exclude slots: the pod's node demands, nodes with
// pods that it repels, and the tree of free room.
std::size_t PodPlacer::find(Attempt& attempt, std::size_t from, std::size_t to) {
    auto& candidates = *attempt.variant.candidates;
    learn_slots(candidates);
    blocked_.clear();
    topology_.add_blocked(attempt.variant.rules, attempt.limits, blocked_);
    if (attempt.spares_others)
        topology_.add_unsparing(attempt.plan.others, attempt.limits_of_others, blocked_);
    if (attempt.avoids_planned) blocked_.push_back(&planned_slots_);
    const auto next = [&](std::size_t slot) {
        for (auto index = slot / BitSet::kBits; index * BitSet::kBits < to; ++index) {
            auto bits = candidates.slots.word(index);
            if (index == slot / BitSet::kBits) bits &= ~BitSet::Word{0} << slot % BitSet::kBits;
            for (const auto* blocked : blocked_) bits &= ~blocked->word(index);
            if (bits != 0) return index * BitSet::kBits + static_cast<std::size_t>(std::countr_zero(bits));
        }
        return kNone;
    };
    for (auto slot = from; slot < to;) {
        slot = next(slot);
        if (slot >= to) break;
        const auto with_room = room_.next(slot, attempt.plan.room);
        if (with_room != slot) {
            slot = with_room;
            continue;
        }
        if (attempt.looks-- == 0) break;
        if (slot < rows_.nodes() ? try_node(attempt, slot) : try_new_machine(attempt, slot)) return slot;
        ++slot;
    }
    return kNone;
}

// Returns the average share of CPU and memory that stays free once the pod is there.
double PodPlacer::free_share(std::size_t row, const Amounts& requests) const {
    const auto& all = rows_.allocatable(row);
    const auto share = [&](Base resource) {
        return all.base[resource] <= 0
                   ? 0.0
                   : static_cast<double>(free_[row].base[resource] - requests.base[resource]) /
                         static_cast<double>(all.base[resource]);
    };
    return (share(kCpu) + share(kMemory)) / 2;
}

bool PodPlacer::is_kept_empty(std::size_t row) const {
    const auto& pool = rows_.node(row).pool;
    return pool && snapshot_.pools[*pool].spare.nodes > 0 && rows_.digest(row).own_pods == 0;
}

// Searches nodes only. The kube-scheduler's choice among nearly empty nodes is unpredictable. So nodes that
// are kept empty come first, because they would have to be launched again.
std::size_t PodPlacer::find_node(Attempt& attempt, std::size_t from, std::size_t to) {
    if (order_ == NodeOrder::first_fit) return find(attempt, from, to);
    auto trial = attempt;
    trial.commits = false;
    const auto rank = [&](std::size_t slot) {
        return std::pair(is_kept_empty(slot), free_share(slot, *attempt.plan.requests));
    };
    auto emptiest = kNone;
    for (auto slot = find(trial, from, to); slot != kNone; slot = find(trial, slot + 1, to))
        if (emptiest == kNone || rank(slot) > rank(emptiest)) emptiest = slot;
    return emptiest == kNone ? kNone : find(attempt, emptiest, emptiest + 1);
}

bool PodPlacer::try_node(Attempt& attempt, std::size_t slot) {
    const auto& plan = attempt.plan;
    const auto& rules = attempt.variant.rules;
    if (!fits(*plan.requests, free_[slot]) || !topology_.holds_in_row(rules, attempt.limits, slot) ||
        !topology_.holds_in_slot(rules, attempt.limits, slot, slot) ||
        !ports_.are_free(slot, slot, plan.ports) || !volume_usage_.is_left(slot, plan.volumes) ||
        !volume_usage_.can_attach(slot, rows_.node(slot).pool, plan.volumes) ||
        (attempt.spares_others && !spares_others(attempt, slot, slot)))
        return false;
    if (!attempt.commits) return true;
    free_[slot] -= *plan.requests;
    room_.set(slot, room_of(free_[slot]));
    count_in(attempt, slot, slot);
    return true;
}

void PodPlacer::count_in(const Attempt& attempt, std::size_t slot, std::size_t row) {
    ports_.take(slot, row, attempt.plan.ports);
    if (attempt.plan.pod_class->has_volumes) volume_usage_.take(slot, row, attempt.plan.volumes);
    if (attempt.basis == Basis::existing) topology_.close(attempt.variant.rules, slot, row);
    topology_.place(attempt.plan.id, slot, row);
}

bool PodPlacer::reserve(std::size_t slot, const Amounts& wanted) {
    if (slot >= rows_.nodes()) {
        const auto& new_machine = new_machines_.at(slot - rows_.nodes());
        const auto fit = new_machines_.fit_more(slot - rows_.nodes(), new_machine.allowed, wanted);
        if (!fit) return false;
        update_machine(slot, {new_machine.allowed, *fit}, wanted);
        return true;
    }
    if (!fits(wanted, free_[slot])) return false;
    free_[slot] -= wanted;
    room_.set(slot, room_of(free_[slot]));
    return true;
}

// Returns a number that changes whenever a rule that does not hold might begin to.
std::int64_t PodPlacer::revision_of(const Variant& variant) const {
    return given_up_ + (variant.rules.may_change() ? topology_.revision_of(variant.rules) : 0);
}

bool PodPlacer::may_change(ClassId id) {
    return given_up_ > 0 || required(id).rules.may_change();
}

std::size_t PodPlacer::decided_slot(const Demand& demand) const {
    if (!demand.can_wait || decided_.empty()) return kNone;
    const auto found = decided_.find(demand.pod->metadata.uid);
    return found == decided_.end() ? kNone : found->second;
}

std::size_t PodPlacer::place_as_decided(const Demand& demand, PlacementPlan& plan, Basis basis) {
    const auto slot = decided_slot(demand);
    if (slot == kNone) return kNone;
    const bool was_held = release(demand);
    auto placed = place_among(plan, slot, slot + 1, basis);
    if (placed == kNone && was_held && rows_.node(slot).is_unplaced)
        placed = trust_decision(plan, slot, basis);
    if (placed == kNone && was_held) ++given_up_;
    return placed;
}

// Places the pod on its node, although labels are missing that the node will get with its host.
std::size_t PodPlacer::trust_decision(PlacementPlan& plan, std::size_t slot, Basis basis) {
    free_[slot] -= *plan.requests;
    room_.set(slot, room_of(free_[slot]));
    count_in(attempt(plan, 0, basis), slot, slot);
    return slot;
}

void PodPlacer::hold_decided(const Demand& demand) {
    const auto slot = decided_slot(demand);
    if (slot == kNone) return;
    const auto& requests = *plans_.of(demand.pod_class).requests;
    if (!fits(requests, free_[slot])) return;
    free_[slot] -= requests;
    room_.set(slot, room_of(free_[slot]));
    held_.emplace(demand.pod, slot);
}

bool PodPlacer::release(const Demand& demand) {
    const auto held = held_.find(demand.pod);
    if (held == held_.end()) return false;
    free_[held->second] += *plans_.of(demand.pod_class).requests;
    room_.set(held->second, room_of(free_[held->second]));
    held_.erase(held);
    return true;
}

// Places the pod on existing nodes. The kube-scheduler uses a fitting node whether it is preferred or not. So
// nothing is launched for a preference while such a node exists.
std::size_t PodPlacer::place_among(PlacementPlan& plan, std::size_t from, std::size_t to, Basis basis) {
    if (from == to) return kNone;
    if (plan.kept != 0) {
        auto preferred = attempt(plan, plan.kept, basis);
        const auto slot = find_node(preferred, from, to);
        if (slot != kNone) return slot;
    }
    auto required = attempt(plan, 0, basis);
    return find_node(required, from, to);
}

// Searches from that slot on, for the kind that the pod prefers, otherwise any.
std::size_t PodPlacer::find_preferred(PlacementPlan& plan, std::size_t from, bool spares_others) {
    for (const auto kept : {plan.kept, Kept{0}}) {
        auto trial = attempt(plan, kept, Basis::potential);
        trial.spares_others = spares_others;
        if (spares_others) trial.looks = kMostSparingLooks;
        const auto slot = find(trial, from, room_.size());
        if (slot != kNone || kept == 0) return slot;
    }
    return kNone;
}

// Places the pod where no other pod's place begins to depend on the order of placement.
std::size_t PodPlacer::place_sparing_others(PlacementPlan& plan, std::size_t from) {
    if (plan.others.none()) return kNone;
    return find_preferred(plan, from, true);
}

std::size_t PodPlacer::place_on_node(const Demand& demand) {
    auto& plan = plans_.of(demand.pod_class);
    const auto slot = place_as_decided(demand, plan, Basis::existing);
    if (slot != kNone) return slot;
    return place_among(plan, 0, demand.can_wait ? rows_.nodes() : rows_.ready(), Basis::existing);
}

std::size_t PodPlacer::place_or_add_machine(Attempt& attempt, std::size_t from) {
    const auto slot = find(attempt, from, room_.size());
    return slot != kNone ? slot : open(attempt);
}

// Keeps as many preferences as possible, the strongest first.
void PodPlacer::give_up_preferences(PlacementPlan& plan) {
    Kept kept = 0;
    for (std::size_t i = 0; i < plan.preferences; ++i) {
        const auto wanted = kept | Kept{1} << i;
        if ((plan.kept & wanted) != wanted) continue;
        auto trial = attempt(plan, wanted, Basis::potential, false);
        if (place_or_add_machine(trial, rows_.nodes()) != kNone) kept = wanted;
    }
    plan.kept = kept;
}

// Places the pod on a machine that is launched anyway, preferred or not.
std::size_t PodPlacer::place_on_new_machine(PlacementPlan& plan) {
    return find_preferred(plan, rows_.nodes(), false);
}

std::size_t PodPlacer::add_machine_for(PlacementPlan& plan) {
    if (snapshot_.preferences == PreferencePolicy::where_free && plan.kept != 0) {
        const auto slot = place_on_new_machine(plan);
        if (slot != kNone) return slot;
    }
    auto first = attempt(plan, plan.kept, Basis::potential);
    auto slot = place_or_add_machine(first, rows_.nodes());
    if (slot == kNone && plan.kept != 0) {
        give_up_preferences(plan);
        auto second = attempt(plan, plan.kept, Basis::potential);
        slot = place_or_add_machine(second, rows_.nodes());
    }
    return slot;
}

std::size_t PodPlacer::place_on_ready(PlacementPlan& plan) {
    const auto state = revision_of(plans_.variant(plan, 0));
    if (plan.no_ready_node_at == state) return kNone;
    const auto slot = place_among(plan, 0, rows_.ready(), Basis::now);
    if (slot == kNone) plan.no_ready_node_at = state;
    return slot;
}

std::size_t PodPlacer::place_now(const Demand& demand) {
    if (rows_.ready() == 0) return kNone;
    auto& plan = plans_.of(demand.pod_class);
    const auto decided = decided_slot(demand);
    if (decided == kNone) return place_on_ready(plan);
    return decided < rows_.ready() ? place_as_decided(demand, plan, Basis::now) : kNone;
}

std::size_t PodPlacer::place(const Demand& demand) {
    auto& plan = plans_.of(demand.pod_class);
    auto slot = place_as_decided(demand, plan, Basis::existing);
    if (slot != kNone) return slot;
    const auto state = revision_of(plans_.variant(plan, 0));
    if (plan.no_place_at == state) return kNone;

    const auto coming = demand.can_wait ? rows_.ready() : rows_.nodes();
    // Machines launched for later pods are domains of a spread too.
    slot = place_among(plan, 0, rows_.ready(), Basis::potential);
    if (slot == kNone) slot = place_sparing_others(plan, coming);
    if (slot == kNone) slot = place_among(plan, coming, rows_.nodes(), Basis::potential);
    if (slot == kNone) slot = place_as_planned(demand, plan);
    if (slot == kNone) slot = add_machine_for(plan);
    // A pod that can wait may be placed on nodes being created too.
    if (slot == kNone && demand.can_wait) plan.no_place_at = state;
    return slot;
}

std::size_t PodPlacer::place_as_last_resort(const Demand& demand) {
    auto& plan = plans_.of(demand.pod_class);
    const auto& required = plans_.variant(plan, 0);
    if (required.rules.spreads.empty()) return kNone;
    const auto state = revision_of(required);
    if (plan.no_last_resort_at == state) return kNone;
    auto slot = place_among(plan, 0, rows_.ready(), Basis::existing);
    if (slot == kNone) {
        auto last = attempt(plan, 0, Basis::existing);
        slot = place_or_add_machine(last, demand.can_wait ? rows_.ready() : rows_.nodes());
    }
    if (slot == kNone && demand.can_wait) plan.no_last_resort_at = state;
    return slot;
}

}  // namespace scheduling

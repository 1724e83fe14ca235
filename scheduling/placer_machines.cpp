// Contains the part of PodPlacer that handles machines launched in this solve.
#include "scheduling/pod_placer.hpp"

namespace scheduling {

std::size_t PodPlacer::append_machine(std::size_t pool, Offer offer, const Amounts& wanted) {
    const auto index = new_machines_.open(pool, std::move(offer.places), offer.fit, wanted);
    const auto slot = rows_.nodes() + index;
    room_.append(new_machines_.room(index));
    topology_.settle(slot, rows_.templates_of(pool), new_machines_.at(index).allowed);
    if (!may_launch()) topology_.expect_no_nodes();
    return slot;
}

void PodPlacer::update_machine(std::size_t slot, Offer offer, const Amounts& wanted) {
    const auto index = slot - rows_.nodes();
    const bool is_narrower = !(offer.places == new_machines_.at(index).allowed);
    new_machines_.extend(index, std::move(offer.places), offer.fit, wanted);
    room_.set(slot, new_machines_.room(index));
    const auto& new_machine = new_machines_.at(index);
    if (is_narrower) topology_.settle(slot, rows_.templates_of(new_machine.pool), new_machine.allowed);
}

// Determines the domains of new machines before spread rules are compared with the existing domains.
void PodPlacer::settle_new_machines(const Rules& rules) {
    for (const auto& rule : rules.spreads) {
        if (topology_.settled(rule.counter) == new_machines_.size()) continue;
        for (std::size_t index = 0; index < new_machines_.size(); ++index) {
            const auto& new_machine = new_machines_.at(index);
            BitSet places;
            for (auto place = new_machine.allowed.next(0); place != kNone;
                 place = new_machine.allowed.next(place + 1))
                if (topology_.is_same_domain({rule.counter},
                                             template_row(new_machine.pool, new_machine.place),
                                             template_row(new_machine.pool, place)))
                    places.insert(place);
            if (!(places == new_machine.allowed))
                update_machine(rows_.nodes() + index,
                               {std::move(places), {new_machine.size, new_machine.place}}, {});
        }
    }
}

// Returns the preferred place. It respects others' spread rules, then prefers the least
// crowded place by the pod's first spread rule. After that it prefers the machine's present
// place, and then the free capacity's choice.
std::size_t PodPlacer::preferred_place(const Attempt& attempt, std::size_t pool, const BitSet& places,
                                       std::size_t current) const {
    const auto& all = snapshot_.pools[pool].places;
    const auto first_row = rows_.templates_of(pool);
    auto best = kNone;
    std::pair<bool, std::int32_t> best_crowd;
    for (auto place = places.next(0); place != kNone; place = places.next(place + 1)) {
        const std::pair crowd(!spares_others(attempt, kNone, first_row + place),
                              topology_.crowd(attempt.variant.rules, first_row + place));
        bool is_better = best == kNone || crowd < best_crowd;
        if (!is_better && crowd == best_crowd && best != current)
            is_better = place == current ||
                        new_machines_.free_capacity().is_preferred(all[place].place, all[best].place);
        if (is_better) {
            best = place;
            best_crowd = crowd;
        }
    }
    return best;
}

// Groups `places` that agree on every domain which matters to the pod, so that its domain is known. Returns
// the preferred group in which `try_fit` finds a machine.
template <class TryFit>
std::optional<PodPlacer::Offer> PodPlacer::best_offer(Attempt& attempt, std::size_t pool, BitSet places,
                                                      std::size_t current, const TryFit& try_fit) {
    const auto first_row = rows_.templates_of(pool);
    const auto& volumes = attempt.plan.volumes;
    for (auto place = places.next(0); place != kNone; place = places.next(place + 1))
        if (!topology_.holds_in_row(attempt.variant.rules, attempt.limits, first_row + place) ||
            !volume_usage_.is_left(first_row + place, volumes))
            places.erase(place);
    while (!places.empty()) {
        const auto chosen = preferred_place(attempt, pool, places, current);
        BitSet group;
        group.insert(chosen);
        // The pod's volume depends on the place.
        for (auto place = places.next(0); place != kNone && volumes.choices.empty();
             place = places.next(place + 1))
            if (topology_.is_same_domain(attempt.variant.touched, first_row + chosen, first_row + place))
                group.insert(place);
        if (const auto fit = try_fit(chosen, group)) return Offer{std::move(group), *fit};
        for (auto place = group.next(0); place != kNone; place = group.next(place + 1)) places.erase(place);
    }
    return std::nullopt;
}

bool PodPlacer::try_new_machine(Attempt& attempt, std::size_t slot) {
    const auto index = slot - rows_.nodes();
    const auto& new_machine = new_machines_.at(index);
    const auto& plan = attempt.plan;
    auto places = new_machine.allowed & attempt.variant.candidates->places[new_machine.pool];
    if (places.empty()) {
        attempt.variant.candidates->slots.erase(slot);
        return false;
    }
    const auto first_row = rows_.templates_of(new_machine.pool);
    if (!topology_.holds_in_slot(attempt.variant.rules, attempt.limits, slot,
                                 first_row + new_machine.place) ||
        !ports_.are_free(slot, first_row + new_machine.place, plan.ports) ||
        !volume_usage_.can_attach(slot, new_machine.pool, plan.volumes))
        return false;
    if (attempt.spares_others) {
        for (auto place = places.next(0); place != kNone; place = places.next(place + 1))
            if (!spares_others(attempt, slot, first_row + place)) places.erase(place);
        if (places.empty()) return false;
    }
    bool was_too_large = false;
    auto offer = best_offer(attempt, new_machine.pool, std::move(places), new_machine.place,
                            [&](std::size_t, const BitSet& group) {
                                auto fit = new_machines_.fit_more(index, group, *plan.requests);
                                was_too_large = was_too_large || !fit;
                                return fit;
                            });
    if (!offer) {
        if (was_too_large)
            room_.set(slot, new_machines_.room(index));  // budgets and places may leave less by now
        return false;
    }
    if (!attempt.commits) return true;
    const auto row = first_row + offer->fit.place;
    update_machine(slot, std::move(*offer), *plan.requests);
    count_in(attempt, slot, row);
    return true;
}

BitSet PodPlacer::open_places(std::size_t pool, BitSet places) const {
    for (auto place = places.next(0); place != kNone; place = places.next(place + 1))
        if (topology_.is_closed(template_row(pool, place))) places.erase(place);
    return places;
}

std::optional<PodPlacer::Offer> PodPlacer::offer_of(Attempt& attempt, std::size_t pool) {
    if (!snapshot_.pools[pool].closed.empty()) return std::nullopt;
    const auto& plan = attempt.plan;
    if (volume_usage_.beyond_new(pool, plan.volumes) ||
        volume_usage_.driver_missing_on_new(pool, plan.volumes))
        return std::nullopt;
    const auto first_row = rows_.templates_of(pool);
    return best_offer(attempt, pool, open_places(pool, attempt.variant.candidates->places[pool]), kNone,
                      [&](std::size_t chosen, const BitSet& group) -> std::optional<Fit> {
                          const auto row = first_row + chosen;
                          if (!topology_.holds_in_new_slot(attempt.variant.rules, attempt.limits, row) ||
                              !ports_.are_free_on_new(row, plan.ports))
                              return std::nullopt;
                          return new_machines_.fit_new(pool, group, *plan.requests);
                      });
}

void PodPlacer::launch_at_most(std::size_t most) {
    most_machines_ = most;
    if (!may_launch()) topology_.expect_no_nodes();
}

// Opens a new machine. Pools of equal weight compete by the price of the machine that the pod needs.
std::size_t PodPlacer::open(Attempt& attempt) {
    if (!may_launch()) return kNone;
    std::optional<Offer> best;
    std::size_t best_pool = kNone;
    double least = 0;
    for (const auto pool : pool_order_) {
        if (best && snapshot_.pools[pool].weight != snapshot_.pools[best_pool].weight) break;
        auto offer = offer_of(attempt, pool);
        if (!offer) continue;
        const auto price = snapshot_.pools[pool].prices.of(offer->fit.size);
        if (best && price >= least) continue;
        best = std::move(offer);
        least = price;
        best_pool = pool;
    }
    if (!best) return kNone;
    if (!attempt.commits) return room_.size();
    return launch(attempt, best_pool, std::move(*best));
}

std::size_t PodPlacer::launch(const Attempt& attempt, std::size_t pool, Offer offer) {
    const auto row = rows_.templates_of(pool) + offer.fit.place;
    const auto slot = append_machine(pool, std::move(offer), *attempt.plan.requests);
    count_in(attempt, slot, row);
    return slot;
}

void PodPlacer::follow(const MachinePlan& plan) {
    machine_plan_ = &plan;
    slot_of_planned_.assign(plan.machines.size(), kNone);
}

// Places the pod with the pods that the plan has on the same machine. A machine for pods without a plan is
// tried first, because it is launched anyway.
std::size_t PodPlacer::place_as_planned(const Demand& demand, PlacementPlan& plan) {
    if (!machine_plan_) return kNone;
    const auto planned = machine_plan_->machine_of.find(demand.pod);
    if (planned == machine_plan_->machine_of.end()) return kNone;
    auto elsewhere = attempt(plan, 0, Basis::potential);
    elsewhere.avoids_planned = true;
    const auto slot = find(elsewhere, rows_.nodes(), room_.size());
    if (slot != kNone) return slot;
    const auto own = slot_of_planned_[planned->second];
    return own != kNone ? place_among(plan, own, own + 1, Basis::potential)
                        : open_planned(planned->second, plan);
}

std::size_t PodPlacer::open_planned(std::size_t planned, PlacementPlan& plan) {
    const auto& [pool, most] = machine_plan_->machines[planned];
    auto first = attempt(plan, 0, Basis::potential);
    auto offer = offer_of(first, pool);
    if (!offer || !offer->fit.size.is_within(most)) return kNone;
    const auto slot = launch(first, pool, std::move(*offer));
    new_machines_.bound(slot - rows_.nodes(), most);
    room_.set(slot, new_machines_.room(slot - rows_.nodes()));
    slot_of_planned_[planned] = slot;
    planned_slots_.insert(slot);
    return slot;
}

std::string PodPlacer::port_obstacle(ClassId id, const BitSet& places, std::size_t pool) {
    std::string obstacle;
    for (auto place = places.next(0); place != kNone; place = places.next(place + 1)) {
        obstacle = ports_.obstacle_on_new(template_row(pool, place), plans_.of(id).ports);
        if (obstacle.empty()) break;
    }
    return obstacle;
}

bool PodPlacer::has_free_volumes(ClassId id, const BitSet& places, std::size_t pool) {
    for (auto place = places.next(0); place != kNone; place = places.next(place + 1))
        if (volume_usage_.is_left(template_row(pool, place), plans_.of(id).volumes)) return true;
    return false;
}

std::optional<VolumeUsage::Excess> PodPlacer::volumes_beyond_new(ClassId id, std::size_t pool) {
    return volume_usage_.beyond_new(pool, plans_.of(id).volumes);
}

std::optional<std::string> PodPlacer::driver_missing_on_new(ClassId id, std::size_t pool) {
    return volume_usage_.driver_missing_on_new(pool, plans_.of(id).volumes);
}

std::string PodPlacer::problem_of(ClassId id) {
    const auto& plan = plans_.of(id);
    return plan.problem.empty() ? volume_usage_.conflict(plan.volumes) : plan.problem;
}

std::size_t PodPlacer::add_machine(std::size_t pool, const Amounts& wanted) {
    auto places = open_places(pool, BitSet::all(snapshot_.pools[pool].places.size()));
    if (!snapshot_.pools[pool].closed.empty() || places.empty() || !may_launch()) return kNone;
    const auto fit = new_machines_.fit_new(pool, places, wanted);
    return fit ? append_machine(pool, {std::move(places), *fit}, wanted) : kNone;
}

}  // namespace scheduling

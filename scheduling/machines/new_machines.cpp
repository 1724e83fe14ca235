#include "scheduling/machines/new_machines.hpp"

#include <algorithm>

namespace scheduling {

namespace {

Take whole(const ShapeSize& size) {
    return {1, size.cpu_cores, size.memory_mib};
}

Take difference(const ShapeSize& larger, const ShapeSize& smaller) {
    return {0, larger.cpu_cores - smaller.cpu_cores, larger.memory_mib - smaller.memory_mib};
}

Take negated(const Take& take) {
    return {-take.machines, -take.cpu_cores, -take.memory_mib};
}

}  // namespace

NewMachines::NewMachines(const Snapshot& snapshot, const TakenByDaemons& taken, ResourceNames& names)
    : snapshot_(snapshot), free_capacity_(snapshot) {
    for (std::size_t pool = 0; pool < snapshot.pools.size(); ++pool) {
        const auto& machines = machines_.emplace_back(snapshot.pools[pool], names);
        auto& of_pool = overheads_.emplace_back();
        for (std::size_t shape = 0; shape < machines.shapes(); ++shape) {
            auto& overhead = of_pool.emplace_back();
            for (std::size_t place = 0; place < snapshot.pools[pool].places.size(); ++place)
                overhead.at.push_back(taken(pool, place, machines.offer(shape)));
            overhead.is_uniform =
                std::ranges::all_of(overhead.at, [&](const Amounts& each) { return each == overhead.at[0]; });
        }
        const auto is_same = [&of_pool](const Overhead& each) { return each.at == of_pool[0].at; };
        if (std::ranges::all_of(of_pool, is_same)) of_pool.resize(1);
        auto complete = complete_shape(of_pool);
        if (complete != kNone && is_most_of(of_pool[complete], machines.largest())) complete = kNone;
        complete_shape_.push_back(complete);
    }
}

// Reports whether the DaemonSets take more than three quarters of the largest machine. The author of such a
// DaemonSet could otherwise make each pod's machine as large as possible.
bool NewMachines::is_most_of(const Overhead& overhead, const Amounts& largest) {
    return std::ranges::any_of(overhead.at, [&largest](const Amounts& each) {
        return 4 * each.base[kCpu] > 3 * largest.base[kCpu] ||
               4 * each.base[kMemory] > 3 * largest.base[kMemory];
    });
}

std::size_t NewMachines::complete_shape(const std::vector<Overhead>& of_pool) {
    const auto holds_as_much = [](const Overhead& shape, const Overhead& other) {
        return std::ranges::equal(shape.at, other.at, [](const Amounts& most, const Amounts& amounts) {
            return at_least(most, amounts) == most;
        });
    };
    const auto found = std::ranges::find_if(of_pool, [&](const Overhead& shape) {
        return std::ranges::all_of(of_pool,
                                   [&](const Overhead& other) { return holds_as_much(shape, other); });
    });
    return found == of_pool.end() ? kNone : static_cast<std::size_t>(found - of_pool.begin());
}

Amounts NewMachines::overhead(std::size_t pool, const BitSet& allowed, std::size_t shape) const {
    const auto& of_pool = overheads_[pool];
    const auto& overhead = of_pool.size() == 1 ? of_pool[0] : of_pool[shape];
    if (overhead.at.empty()) return {};
    if (overhead.is_uniform) return overhead.at[0];
    Amounts most;
    for (auto place = allowed.next(0); place != kNone; place = allowed.next(place + 1))
        most = at_least(most, overhead.at[place]);
    return most;
}

Amounts NewMachines::complete_overhead(std::size_t pool, const BitSet& allowed, std::size_t shape) const {
    return overhead(pool, allowed, complete_shape_[pool] == kNone ? shape : complete_shape_[pool]);
}

Amounts NewMachines::overhead(std::size_t pool, const BitSet& allowed) const {
    return overhead(pool, allowed, overheads_[pool].size() - 1);
}

std::optional<ShapeSize> NewMachines::next_size(std::size_t pool, const BitSet& allowed, const Amounts& used,
                                                std::size_t from, DaemonPodsOn daemon_pods) const {
    const auto& machines = machines_[pool];
    if (daemon_pods == DaemonPodsOn::all) {
        auto total = complete_overhead(pool, allowed, from);
        total += used;
        return machines.smallest(total, from);
    }
    const auto beside = [&](std::size_t shape) {
        auto total = overhead(pool, allowed, shape);
        total += used;
        return total;
    };
    if (overheads_[pool].size() == 1) return machines.smallest(beside(0), from);
    for (auto shape = from; shape < machines.shapes(); ++shape)
        if (const auto size = machines.smallest(beside(shape), shape); size && size->shape == shape)
            return size;
    return std::nullopt;
}

std::size_t NewMachines::place_for(std::size_t pool, const BitSet& allowed, const ShapeSize& size,
                                   const Current& current) const {
    const auto& places = snapshot_.pools[pool].places;
    if (current.place != kNone && allowed.contains(current.place) &&
        free_capacity_.place_allows(places[current.place].place, size) &&
        free_capacity_.place_holds(places[current.place].place, difference(size, current.size)))
        return current.place;
    std::size_t best = kNone;
    for (auto i = allowed.next(0); i != kNone; i = allowed.next(i + 1)) {
        if (i == current.place || !free_capacity_.place_allows(places[i].place, size) ||
            !free_capacity_.place_holds(places[i].place, whole(size)))
            continue;
        if (best == kNone || free_capacity_.is_preferred(places[i].place, places[best].place)) best = i;
    }
    return best;
}

// A size that leaves DaemonSets out is used only if no other can be launched. Otherwise their pods would
// stay pending on it, such as a storage driver's.
std::optional<Fit> NewMachines::fit(std::size_t pool, const BitSet& allowed, const Amounts& used,
                                    const Current& current) const {
    if (overheads_[pool].size() > 1 && complete_shape_[pool] != kNone) {
        if (auto complete = fit(pool, allowed, used, current, DaemonPodsOn::all)) return complete;
        const auto shape = current.size.shape;
        const bool has_all = overhead(pool, allowed, shape) == complete_overhead(pool, allowed, shape);
        if (current.place != kNone && has_all) return std::nullopt;
    }
    return fit(pool, allowed, used, current, DaemonPodsOn::those_that_fit);
}

std::optional<Fit> NewMachines::fit(std::size_t pool, const BitSet& allowed, const Amounts& used,
                                    const Current& current, DaemonPodsOn daemon_pods) const {
    const bool is_new = current.place == kNone;
    const auto& machines = machines_[pool];
    for (auto size = next_size(pool, allowed, used, current.size.shape, daemon_pods); size;
         size = next_size(pool, allowed, used, size->shape + 1, daemon_pods)) {
        const auto take = is_new ? whole(*size) : difference(*size, current.size);
        const bool is_too_large = current.most && !size->is_within(*current.most);
        if (!is_too_large && free_capacity_.budget_in_the_way(snapshot_.pools[pool], take) == kNone) {
            const auto place = place_for(pool, allowed, *size, current);
            if (place != kNone) return Fit{*size, place};
        }
        if (machines.is_flexible()) break;
    }
    return std::nullopt;
}

std::optional<Fit> NewMachines::fit_new(std::size_t pool, const BitSet& allowed,
                                        const Amounts& wanted) const {
    return fit(pool, allowed, wanted, {});
}

std::size_t NewMachines::open(std::size_t pool, BitSet allowed, const Fit& fit, const Amounts& wanted) {
    free_capacity_.spend(snapshot_.pools[pool], whole(fit.size));
    free_capacity_.occupy(snapshot_.pools[pool].places[fit.place].place, whole(fit.size));
    new_machines_.push_back({pool, std::move(allowed), fit.place, fit.size, wanted});
    return new_machines_.size() - 1;
}

std::optional<Fit> NewMachines::fit_more(std::size_t index, const BitSet& allowed,
                                         const Amounts& wanted) const {
    const auto& new_machine = new_machines_[index];
    auto used = new_machine.used;
    used += wanted;
    auto total = overhead(new_machine.pool, allowed, new_machine.size.shape);
    total += used;
    if (allowed.contains(new_machine.place) &&
        fits(total, machines_[new_machine.pool].allocatable(new_machine.size)))
        return Fit{new_machine.size, new_machine.place};
    return fit(new_machine.pool, allowed, used, {new_machine.place, new_machine.size, new_machine.most});
}

void NewMachines::extend(std::size_t index, BitSet allowed, const Fit& fit, const Amounts& wanted) {
    auto& new_machine = new_machines_[index];
    const auto& pool = snapshot_.pools[new_machine.pool];
    free_capacity_.spend(pool, difference(fit.size, new_machine.size));
    free_capacity_.occupy(pool.places[new_machine.place].place, negated(whole(new_machine.size)));
    free_capacity_.occupy(pool.places[fit.place].place, whole(fit.size));
    new_machine.allowed = std::move(allowed);
    new_machine.place = fit.place;
    new_machine.size = fit.size;
    new_machine.used += wanted;
}

Amounts NewMachines::free(std::size_t index) const {
    const auto& new_machine = new_machines_[index];
    auto free = machines_[new_machine.pool].allocatable(new_machine.size);
    free -= new_machine.used;
    free -= overhead(new_machine.pool, new_machine.allowed, new_machine.size.shape);
    return free;
}

Amounts NewMachines::largest(std::size_t pool, const BitSet& allowed) const {
    const auto& places = snapshot_.pools[pool].places;
    Amounts largest;
    for (auto i = allowed.next(0); i != kNone; i = allowed.next(i + 1)) {
        const auto& bound = free_capacity_.place(places[i].place).largest;
        if (!bound) return machines_[pool].largest();
        if (const auto here = machines_[pool].largest_within(*bound)) largest = at_least(largest, *here);
    }
    return largest;
}

std::optional<ShapeSize> NewMachines::smallest(std::size_t pool, const BitSet& allowed,
                                               const Amounts& wanted) const {
    const auto& places = snapshot_.pools[pool].places;
    const auto& machines = machines_[pool];
    for (auto size = next_size(pool, allowed, wanted, 0, DaemonPodsOn::those_that_fit); size;
         size = next_size(pool, allowed, wanted, size->shape + 1, DaemonPodsOn::those_that_fit)) {
        for (auto i = allowed.next(0); i != kNone; i = allowed.next(i + 1)) {
            const auto& bound = free_capacity_.place(places[i].place).largest;
            if (!bound || size->is_within(*bound)) return size;
        }
        if (machines.is_flexible()) break;
    }
    return std::nullopt;
}

Room NewMachines::room(std::size_t index) const {
    const auto& new_machine = new_machines_[index];
    const auto& pool = snapshot_.pools[new_machine.pool];
    // An overhead that depends on the shape counts as zero, because the result is an upper bound.
    auto taken = overheads_[new_machine.pool].size() == 1 ? overhead(new_machine.pool, new_machine.allowed, 0)
                                                          : Amounts();
    taken += new_machine.used;
    const auto& machines = machines_[new_machine.pool];
    const auto largest = new_machine.most ? machines.largest_within(*new_machine.most).value_or(Amounts())
                                          : machines.largest();
    if (largest.base[kPods] <= taken.base[kPods]) return {};

    Take most;  // CPU and memory, at any place
    for (auto i = new_machine.allowed.next(0); i != kNone; i = new_machine.allowed.next(i + 1)) {
        const auto& place = free_capacity_.place(pool.places[i].place);
        const ShapeSize own = i == new_machine.place ? new_machine.size : ShapeSize{};
        const auto bound = place.largest.value_or(MachineSize{kUnbounded, kUnbounded});
        most.cpu_cores =
            std::max(most.cpu_cores,
                     std::min(place.free_cpu_cores.value_or(kUnbounded) + own.cpu_cores, bound.cpu_cores));
        most.memory_mib =
            std::max(most.memory_mib,
                     std::min(place.free_memory_mib.value_or(kUnbounded) + own.memory_mib, bound.memory_mib));
    }
    const auto affordable = free_capacity_.most_affordable(pool);
    most.cpu_cores = std::min(most.cpu_cores, affordable.cpu_cores + new_machine.size.cpu_cores);
    most.memory_mib = std::min(most.memory_mib, affordable.memory_mib + new_machine.size.memory_mib);
    const auto cpu = std::min(largest.base[kCpu], std::min(most.cpu_cores, kUnbounded / kMilli) * kMilli);
    const auto memory = std::min(largest.base[kMemory], std::min(most.memory_mib, kUnbounded / kMiB) * kMiB);
    return {cpu - taken.base[kCpu], memory - taken.base[kMemory]};
}

}  // namespace scheduling

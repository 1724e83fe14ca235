#include "scheduling/machines/free_capacity.hpp"

#include <algorithm>

#include "scheduling/table/amounts.hpp"

namespace scheduling {

namespace {

using Left = std::optional<base::Saturating>;

bool allows(const Left& left, std::int64_t take) {
    return take <= 0 || !left || take <= *left;
}

void subtract(Left& left, std::int64_t take) {
    if (left) *left -= take;
}

}  // namespace

std::size_t FreeCapacity::budget_in_the_way(const Pool& pool, const Take& take) const {
    for (const auto index : pool.budgets) {
        const auto& budget = budgets_[index];
        if (!allows(budget.nodes, take.machines) || !allows(budget.cpu_cores, take.cpu_cores) ||
            !allows(budget.memory_mib, take.memory_mib))
            return index;
    }
    return kNone;
}

bool FreeCapacity::place_holds(std::size_t index, const Take& take) const {
    const auto& place = places_[index];
    const bool is_part = take.machines > 0 &&
                         (take.cpu_cores != place.free_cpu_cores || take.memory_mib != place.free_memory_mib);
    if (place.is_whole && is_part) return false;
    return allows(place.free_machines, take.machines) && allows(place.free_cpu_cores, take.cpu_cores) &&
           allows(place.free_memory_mib, take.memory_mib);
}

bool FreeCapacity::place_allows(std::size_t index, const MachineSize& size) const {
    const auto& place = places_[index];
    if (place.largest && !size.is_within(*place.largest)) return false;
    return std::ranges::none_of(place.refused,
                                [&](const MachineSize& refused) { return refused.is_within(size); });
}

void FreeCapacity::spend(const Pool& pool, const Take& take) {
    for (const auto index : pool.budgets) {
        auto& budget = budgets_[index];
        subtract(budget.nodes, take.machines);
        subtract(budget.cpu_cores, take.cpu_cores);
        subtract(budget.memory_mib, take.memory_mib);
    }
}

void FreeCapacity::occupy(std::size_t index, const Take& take) {
    auto& place = places_[index];
    subtract(place.free_machines, take.machines);
    subtract(place.free_cpu_cores, take.cpu_cores);
    subtract(place.free_memory_mib, take.memory_mib);
    machines_[index] += take.machines;
}

bool FreeCapacity::is_preferred(std::size_t a, std::size_t b) const {
    if (machines_[a] != machines_[b]) return machines_[a] < machines_[b];
    const auto memory_a = places_[a].free_memory_mib.value_or(kUnbounded);
    const auto memory_b = places_[b].free_memory_mib.value_or(kUnbounded);
    if (memory_a != memory_b) return memory_a > memory_b;
    return a < b;
}

Take FreeCapacity::most_affordable(const Pool& pool) const {
    Take most{0, kUnbounded, kUnbounded};
    for (const auto index : pool.budgets) {
        most.cpu_cores = std::min(most.cpu_cores, budgets_[index].cpu_cores.value_or(kUnbounded));
        most.memory_mib = std::min(most.memory_mib, budgets_[index].memory_mib.value_or(kUnbounded));
    }
    return most;
}

}  // namespace scheduling

// Tracks what may still be launched, and where. The launches of one solve use up
// the snapshot's budgets and places.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduling/input/snapshot.hpp"
#include "scheduling/table/bit_set.hpp"

namespace scheduling {

// Take describes what a launch takes from budgets and from a place; negative when a machine becomes smaller.
struct Take {
    base::Saturating machines = 0;
    base::Saturating cpu_cores = 0;
    base::Saturating memory_mib = 0;
};

class FreeCapacity {
public:
    explicit FreeCapacity(const Snapshot& snapshot)
        : budgets_(snapshot.budgets), places_(snapshot.places), machines_(snapshot.places.size()) {}

    // Returns the first of the pool's budgets that does not allow it, or kNone.
    std::size_t budget_in_the_way(const Pool& pool, const Take& take) const;
    bool place_holds(std::size_t place, const Take& take) const;
    // Reports whether a machine of that size is possible there, however much is free.
    bool place_allows(std::size_t place, const MachineSize& size) const;
    void spend(const Pool& pool, const Take& take);
    // Takes room of the place; a negative amount releases it.
    void occupy(std::size_t place, const Take& take);

    // Chooses between two places if nothing else decides: fewest machines of this solve, then most memory.
    bool is_preferred(std::size_t place, std::size_t other) const;

    const Budget& budget(std::size_t index) const { return budgets_[index]; }
    const Place& place(std::size_t index) const { return places_[index]; }
    // Returns how much CPU and memory the pool's budgets leave.
    Take most_affordable(const Pool& pool) const;

private:
    std::vector<Budget> budgets_;
    std::vector<Place> places_;
    std::vector<base::Saturating> machines_;  // machines of this solve, by place
};

}  // namespace scheduling

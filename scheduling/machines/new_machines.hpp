// The machines launched in one solve. Each is at every moment the smallest that holds its pods, stands in a
// place that has room for it, and is within the budgets; it grows and moves as pods are added. Which place it
// ends in stays open as long as its pods leave several.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "scheduling/input/snapshot.hpp"
#include "scheduling/machines/free_capacity.hpp"
#include "scheduling/machines/machine_sizes.hpp"
#include "scheduling/table/bit_set.hpp"
#include "scheduling/table/room_tree.hpp"

namespace scheduling {

struct NewMachine {
    std::size_t pool = 0;
    BitSet allowed;         // of the pool's places: where its pods can be
    std::size_t place = 0;  // of the pool's places: where it stands for the time being
    Size size;
    Amounts used;                                    // by its pods, without DaemonSets
    std::optional<MachineSize> most = std::nullopt;  // it does not grow beyond
};

// How a machine would be after taking a pod.
struct Fit {
    Size size;
    std::size_t place = 0;  // of the pool's places
};

class NewMachines {
public:
    // What DaemonSets take of a machine of the pool at one of its places that offers so much to pods.
    using TakenByDaemons =
        std::function<Amounts(std::size_t pool, std::size_t place, const Amounts& offered)>;
    NewMachines(const Snapshot& snapshot, const TakenByDaemons& taken, ResourceNames& names);

    std::size_t size() const { return new_machines_.size(); }
    const NewMachine& at(std::size_t index) const { return new_machines_[index]; }
    const MachineSizes& machines(std::size_t pool) const { return machines_[pool]; }
    const FreeCapacity& free_capacity() const { return free_capacity_; }

    // A new machine for `wanted` at one of the allowed places.
    std::optional<Fit> fit_new(std::size_t pool, const BitSet& allowed, const Amounts& wanted) const;
    std::size_t open(std::size_t pool, BitSet allowed, const Fit& fit, const Amounts& wanted);
    // The machine with `wanted` more in it, at one of the places left to it.
    std::optional<Fit> fit_more(std::size_t index, const BitSet& allowed, const Amounts& wanted) const;
    void extend(std::size_t index, BitSet allowed, const Fit& fit, const Amounts& wanted);
    // It does not grow beyond that size.
    void bound(std::size_t index, const MachineSize& most) { new_machines_[index].most = most; }
    // What it can take at most, as budgets, places and machines are now.
    Room room(std::size_t index) const;
    // What its present size leaves free.
    Amounts free(std::size_t index) const;
    // Of the machines of the pool that one of the places could ever take: no one offers more of anything.
    Amounts largest(std::size_t pool, const BitSet& allowed) const;
    // The smallest of them that holds `wanted` beside its DaemonSets, whatever is free now; nullopt: there is
    // none.
    std::optional<Size> smallest(std::size_t pool, const BitSet& allowed, const Amounts& wanted) const;

    // The most that DaemonSets take, at any of the places, of machines of that shape: see MachineSizes.
    Amounts overhead(std::size_t pool, const BitSet& allowed, std::size_t shape) const;
    // The same of the dearest shape.
    Amounts overhead(std::size_t pool, const BitSet& allowed) const;

private:
    struct Current {
        std::size_t place = kNone;
        Size size;
        std::optional<MachineSize> most = std::nullopt;
    };
    // DaemonSets' share of one shape, by place of the pool.
    struct Overhead {
        std::vector<Amounts> at;
        bool is_uniform = true;
    };
    // At or behind shape `from`, beside its DaemonSets.
    std::optional<Size> next_size(std::size_t pool, const BitSet& allowed, const Amounts& used,
                                  std::size_t from) const;
    std::optional<Fit> fit(std::size_t pool, const BitSet& allowed, const Amounts& used,
                           const Current& current) const;
    std::size_t place_for(std::size_t pool, const BitSet& allowed, const Size& size,
                          const Current& current) const;

    const Snapshot& snapshot_;
    std::vector<MachineSizes> machines_;
    std::vector<std::vector<Overhead>> overheads_;  // by pool and shape; one where all shapes have the same
    FreeCapacity free_capacity_;
    std::vector<NewMachine> new_machines_;
};

}  // namespace scheduling

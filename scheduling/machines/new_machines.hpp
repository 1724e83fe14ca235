// Manages the machines launched in one solve. Each is always the smallest that holds its pods, in a
// place with room, and within the budgets. It grows and moves as pods are added. Its final place stays
// open while its pods permit several.
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
    BitSet allowed;         // where its pods can be, as places of the pool
    std::size_t place = 0;  // its present place of the pool
    ShapeSize size;
    Amounts used;                                    // by its pods, without DaemonSets
    std::optional<MachineSize> most = std::nullopt;  // limit of its growth
};

// Fit describes a machine after it takes a pod.
struct Fit {
    ShapeSize size;
    std::size_t place = 0;  // place of the pool
};

class NewMachines {
public:
    // Returns what DaemonSets take of a pool's machine at a place that offers this much to pods.
    using TakenByDaemons =
        std::function<Amounts(std::size_t pool, std::size_t place, const Amounts& offered)>;
    NewMachines(const Snapshot& snapshot, const TakenByDaemons& taken, ResourceNames& names);

    std::size_t size() const { return new_machines_.size(); }
    const NewMachine& at(std::size_t index) const { return new_machines_[index]; }
    const MachineSizes& machines(std::size_t pool) const { return machines_[pool]; }
    const FreeCapacity& free_capacity() const { return free_capacity_; }

    // Returns a new machine for `wanted` at one of the allowed places.
    std::optional<Fit> fit_new(std::size_t pool, const BitSet& allowed, const Amounts& wanted) const;
    std::size_t open(std::size_t pool, BitSet allowed, const Fit& fit, const Amounts& wanted);
    // Returns the machine with `wanted` added, at one of its remaining places.
    std::optional<Fit> fit_more(std::size_t index, const BitSet& allowed, const Amounts& wanted) const;
    void extend(std::size_t index, BitSet allowed, const Fit& fit, const Amounts& wanted);
    // Limits the machine's growth to that size.
    void bound(std::size_t index, const MachineSize& most) { new_machines_[index].most = most; }
    // Returns the maximum that it can take, with the present budgets, places and machines.
    Room room(std::size_t index) const;
    // Returns what its present size leaves free.
    Amounts free(std::size_t index) const;
    // Returns the maximum of each resource over the pool's machines that one of the places could ever take.
    Amounts largest(std::size_t pool, const BitSet& allowed) const;
    // Returns the smallest of them that holds `wanted` and its DaemonSets,
    // whatever is free now; nullopt: none.
    std::optional<ShapeSize> smallest(std::size_t pool, const BitSet& allowed, const Amounts& wanted) const;

    // Returns the maximum that DaemonSets take of machines of that shape, at any
    // of the places: see MachineSizes.
    Amounts overhead(std::size_t pool, const BitSet& allowed, std::size_t shape) const;
    // Does the same for the most expensive shape.
    Amounts overhead(std::size_t pool, const BitSet& allowed) const;
    // Returns what DaemonSets take of the shape that leaves out none which another one holds. If the pool has
    // no such shape, it returns what they take of `shape`.
    Amounts complete_overhead(std::size_t pool, const BitSet& allowed, std::size_t shape) const;

private:
    struct Current {
        std::size_t place = kNone;
        ShapeSize size;
        std::optional<MachineSize> most = std::nullopt;
    };
    // Overhead holds DaemonSets' share of one shape, by place of the pool.
    struct Overhead {
        std::vector<Amounts> at;
        bool is_uniform = true;
    };
    // DaemonPodsOn selects the DaemonSets that a size must hold: those of the complete overhead, or those
    // that its shape leaves room for.
    enum class DaemonPodsOn { all, those_that_fit };
    // Returns the shape that holds the DaemonSets of all shapes at every place; kNone: there is none.
    static std::size_t complete_shape(const std::vector<Overhead>& of_pool);
    static bool is_most_of(const Overhead& overhead, const Amounts& largest);
    // Returns the next size, starting at shape `from`, that also holds its DaemonSets.
    std::optional<ShapeSize> next_size(std::size_t pool, const BitSet& allowed, const Amounts& used,
                                       std::size_t from, DaemonPodsOn daemon_pods) const;
    std::optional<Fit> fit(std::size_t pool, const BitSet& allowed, const Amounts& used,
                           const Current& current) const;
    std::optional<Fit> fit(std::size_t pool, const BitSet& allowed, const Amounts& used,
                           const Current& current, DaemonPodsOn daemon_pods) const;
    std::size_t place_for(std::size_t pool, const BitSet& allowed, const ShapeSize& size,
                          const Current& current) const;

    const Snapshot& snapshot_;
    std::vector<MachineSizes> machines_;
    std::vector<std::vector<Overhead>> overheads_;  // by pool and shape; one if all shapes are equal
    std::vector<std::size_t> complete_shape_;       // by pool
    FreeCapacity free_capacity_;
    std::vector<NewMachine> new_machines_;
};

}  // namespace scheduling

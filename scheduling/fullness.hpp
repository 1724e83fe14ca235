// Determines which of a solve's new machines are full, so that they may be launched before more pods arrive.
#pragma once
#include <cstddef>
#include <unordered_set>
#include <vector>

#include "scheduling/demand.hpp"
#include "scheduling/pod_placer.hpp"

namespace scheduling {

class Fullness {
public:
    // Must be created when all of the demand has been placed. The placer must outlive this object.
    Fullness(PodPlacer& placer, const std::vector<Demand>& demand);

    // Reports whether the machine is full. It holds no other pod of the placed kinds, at any size that it may
    // get. Nine tenths of some resource are used, relative to its largest size. None of its `pods` depends on
    // pods of other machines, which may be launched elsewhere in the end.
    bool is_full(std::size_t new_machine, const std::vector<const api::Pod*>& pods) const;

private:
    struct Kind {
        Room room;
        const Amounts* requests = nullptr;
        const std::vector<BitSet>* places = nullptr;  // by pool
    };
    // Reports whether it was planned smaller than others. With more pods, its own
    // ones might share a larger machine.
    bool is_remainder(const NewMachine& new_machine) const;
    double used_share(std::size_t new_machine, const Room& room) const;

    const PodPlacer& placer_;
    std::vector<Kind> kinds_;
    std::vector<MachineSize> planned_;               // sizes that machines were planned with
    std::unordered_set<const api::Pod*> dependent_;  // pods with required spread or affinity
};

}  // namespace scheduling

// Which of the machines that a solve launches are full, so that they may be launched although more pods will
// come.
#pragma once
#include <cstddef>
#include <unordered_set>
#include <vector>

#include "scheduling/demand.hpp"
#include "scheduling/pod_placer.hpp"

namespace scheduling {

class Fullness {
public:
    // Of a solve in which all of the demand has been placed. The placer must outlive this.
    Fullness(PodPlacer& placer, const std::vector<Demand>& demand);

    // It holds no other pod of the kinds that were placed, whatever becomes of its size, nine tenths of what
    // it could become are used of something, and none of its `pods` is where it is because of pods on other
    // machines, which may be launched elsewhere in the end.
    bool is_full(std::size_t new_machine, const std::vector<const api::Pod*>& pods) const;

private:
    struct Kind {
        Room room;
        const Amounts* requests = nullptr;
        const std::vector<BitSet>* places = nullptr;  // by pool
    };
    // Planned smaller than others: with more pods, its own might share a larger one.
    bool is_remainder(const NewMachine& new_machine) const;
    double used_share(std::size_t new_machine, const Room& room) const;

    const PodPlacer& placer_;
    std::vector<Kind> kinds_;
    std::vector<MachineSize> planned_;               // sizes that machines were planned with
    std::unordered_set<const api::Pod*> dependent_;  // by required spread or affinity
};

}  // namespace scheduling

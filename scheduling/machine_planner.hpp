// Looks for a cheaper way to fill the machines that a solve would launch.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "scheduling/demand.hpp"
#include "scheduling/machine_plan.hpp"
#include "scheduling/packing/packing.hpp"
#include "scheduling/pod_placer.hpp"
#include "scheduling/solver.hpp"

namespace scheduling {

class MachinePlanner {
public:
    // `placer`: after the solve. All of these must outlive this.
    MachinePlanner(const Snapshot& snapshot, PodPlacer& placer, const std::vector<Demand>& demand);

    // Pods of one pool that are alike but for their names, by what they ask for.
    struct Kind {
        PodsAlike pods;
        std::vector<const api::Pod*> names;
    };
    struct Work {
        std::vector<Kind> kinds;
        std::map<const Amounts*, std::size_t> kind_of;
        double price = 0;  // of the machines that they are on now
        Amounts total;     // of these machines' pods
    };
    using WorkOfPools = std::map<std::size_t, Work>;

    // What the machines of `result` are for.
    WorkOfPools work_of(const Result& result) const;
    // For the machines of the work and those of their pods that ask for nothing but room; empty if they cost
    // hardly more than they have to.
    MachinePlan plan(const WorkOfPools& work) const;
    // Where hosts have no room for all pods: for those that have none too, on machines that take as little as
    // they can of what the hosts have least of, whatever they cost. Empty where that is not the reason.
    MachinePlan plan_for_hosts(const Result& result) const;
    // Of all machines. Where a pool does not state what a machine costs whatever its size, what their systems
    // and DaemonSets take counts twice, so that of two sets that cost the same the one with fewer machines is
    // cheaper.
    double price() const;
    // The least that machines for the pods of `result` can cost, and what its claims do.
    Price price_of(const Result& result, const WorkOfPools& work) const;

private:
    void add(Work& work, const api::Pod* pod, ClassId id, std::size_t pool) const;
    // What CPU and memory are worth where hosts have so much left of them for the pool.
    std::optional<Prices> scarcity(std::size_t pool) const;
    bool asks_for_room_only(ClassId id, std::size_t pool) const;
    double price_of(std::size_t pool, const MachineSize& size) const;
    // One that is whole still, for a machine of that size.
    bool has_place(std::size_t pool, const MachineSize& size) const;
    MachineOption option_of(std::size_t pool, const Size& size) const;
    // What machines for the work cost at least, by price_of() or, `plainly`, without what counts twice.
    double least_for(std::size_t pool, const Work& work, bool plainly) const;
    // The work's machines cost more than they have to.
    bool is_dear(std::size_t pool, const Work& work) const;
    void pack_pool(std::size_t pool, const Work& work, MachinePlan& plan,
                   const std::optional<Prices>& prices = {}) const;

    const Snapshot& snapshot_;
    PodPlacer& placer_;
    std::unordered_map<const api::Pod*, ClassId> class_of_;
};

}  // namespace scheduling

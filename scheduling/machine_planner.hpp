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
    // `placer` must have finished its solve. All arguments must outlive this object.
    MachinePlanner(const Snapshot& snapshot, PodPlacer& placer, const std::vector<Demand>& demand);

    // Kind groups pods of one pool that differ only in their names.
    struct Kind {
        PodsAlike pods;
        std::vector<const api::Pod*> names;
    };
    struct Work {
        std::vector<Kind> kinds;
        std::map<const Amounts*, std::size_t> kind_of;
        double price = 0;  // price of their present machines
        Amounts total;     // sum over these machines' pods
    };
    using WorkOfPools = std::map<std::size_t, Work>;

    // Returns the pods of the machines of `result`.
    WorkOfPools work_of(const SolveResult& result) const;
    // Returns a plan for the machines of the work and their pods that request nothing but room. It is empty
    // if they cost hardly more than necessary.
    MachinePlan plan(const WorkOfPools& work) const;
    // Returns a plan for hosts that lack room for all pods, including pods without a place. Its
    // machines take as little as possible of the scarcest resource, at any price. It is empty
    // if the hosts are not the reason.
    MachinePlan plan_for_hosts(const SolveResult& result) const;
    // Returns the price of all machines. If a pool states no price per machine, the share of system and
    // DaemonSets counts twice. So of two equally expensive sets the one with fewer machines is cheaper.
    double price() const;
    // Returns the least price of machines for the pods of `result`, and the price of its claims.
    Price price_of(const SolveResult& result, const WorkOfPools& work) const;

private:
    void add(Work& work, const api::Pod* pod, ClassId id, std::size_t pool) const;
    // Returns prices for CPU and memory according to what the hosts have left for the pool.
    std::optional<Prices> scarcity(std::size_t pool) const;
    bool asks_for_room_only(ClassId id, std::size_t pool) const;
    double price_of(std::size_t pool, const MachineSize& size) const;
    // Reports whether an unused place has room for a machine of that size.
    bool has_place(std::size_t pool, const MachineSize& size) const;
    MachineOption option_of(std::size_t pool, const ShapeSize& size) const;
    // Returns the least price of machines for the work. It uses price_of() or, if
    // `plainly`, counts nothing twice.
    double least_for(std::size_t pool, const Work& work, bool plainly) const;
    // Reports whether the work's machines cost more than necessary.
    bool is_dear(std::size_t pool, const Work& work) const;
    void pack_pool(std::size_t pool, const Work& work, MachinePlan& plan,
                   const std::optional<Prices>& prices = {}) const;

    const Snapshot& snapshot_;
    PodPlacer& placer_;
    std::unordered_map<const api::Pod*, ClassId> class_of_;
};

}  // namespace scheduling

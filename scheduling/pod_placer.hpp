// Places pods one after the other: on ready nodes, on nodes being created, on
// new machines, on another new one.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduling/demand.hpp"
#include "scheduling/machine_plan.hpp"
#include "scheduling/machines/new_machines.hpp"
#include "scheduling/nodes/daemons.hpp"
#include "scheduling/nodes/host_ports.hpp"
#include "scheduling/nodes/rows.hpp"
#include "scheduling/plans.hpp"
#include "scheduling/table/room_tree.hpp"
#include "scheduling/topology/topology.hpp"
#include "scheduling/volumes/volume_usage.hpp"

namespace scheduling {

// Selects among nodes with room for a pod. The first one packs tightly. The one with most room is the choice
// of the kube-scheduler's NodeResourcesFit with its default, LeastAllocated.
enum class NodeOrder { first_fit, emptiest_first };

// PodPlacer puts pods into slots: first the nodes by their rows, then the new machines.
class PodPlacer {
public:
    // Every pod to be placed must be in `classes`.
    PodPlacer(const Snapshot& snapshot, PodClasses& classes, Rows& rows, const Daemons& daemons,
              NodeOrder order);

    // See MachinePlan; it must outlive this object.
    void follow(const MachinePlan& plan);
    // Limits the number of new machines. Must be called before anything is placed.
    void launch_at_most(std::size_t most);
    // Keeps room for the pod on the node that was launched for it, until the pod is placed.
    void hold_decided(const Demand& demand);
    // Returns the pod's slot, or kNone. It uses ready nodes only, and none if the pod waits for
    // a node that was launched for it.
    std::size_t place_now(const Demand& demand);
    // See Topology. Must be called when no pod will be placed by place_now() any longer.
    void expect_machines(const std::vector<std::size_t>& rows) { topology_.expect_machines(rows); }
    void protect_placed() { topology_.protect_placed(); }
    // Places the pod anywhere, including on machines that must be launched.
    std::size_t place(const Demand& demand);
    // Does the same for pods with spread constraints, but ignores domains without available machines. It must
    // be tried after all other pods, because opening such a domain limits where these pods may be.
    std::size_t place_as_last_resort(const Demand& demand);
    // Places the pod on a node, without launching anything.
    std::size_t place_on_node(const Demand& demand);
    // Reports whether a pod without a place may find one once others are placed.
    bool may_change(ClassId id);
    // Returns how often held room became free because its pod cannot be there.
    std::int64_t given_up() const { return given_up_; }

    // Returns indices into Snapshot::pools.
    const std::vector<std::size_t>& pool_order() const { return pool_order_; }
    const NewMachines& new_machines() const { return new_machines_; }
    const Topology& topology() const { return topology_; }
    // Returns the demands of the class without preferences.
    const Variant& required(ClassId id) { return plans_.variant(plans_.of(id), 0); }
    const PlacementPlan& plan(ClassId id) { return plans_.of(id); }
    std::size_t template_row(std::size_t pool, std::size_t place) const {
        return rows_.templates_of(pool) + place;
    }
    // Returns what uses a host port that the class needs on a new machine at any of the
    // places; empty: the port is free.
    std::string port_obstacle(ClassId id, const BitSet& places, std::size_t pool);
    // Reports whether a new machine at one of the places could reach volumes that no other pod gets.
    bool has_free_volumes(ClassId id, const BitSet& places, std::size_t pool);
    // See VolumeUsage::beyond_new().
    std::optional<VolumeUsage::Excess> volumes_beyond_new(ClassId id, std::size_t pool);
    // See VolumeUsage::driver_missing_on_new().
    std::optional<std::string> driver_missing_on_new(ClassId id, std::size_t pool);
    // See Plans.
    const Provision* without_room(ClassId id, std::size_t pool) { return plans_.without_room(id, pool); }
    // See StorageCapacity::decider().
    StorageCapacity::Decider decider_of_room(std::size_t pool, const Provision& provision) {
        return plans_.decider_of_room(pool, provision);
    }
    // Returns why no node would help the class; empty: one might.
    std::string problem_of(ClassId id);
    // Returns the places where a new machine does not invalidate placements that used the existing domains.
    BitSet open_places(std::size_t pool, BitSet places) const;
    const Amounts& free_on_node(std::size_t row) const { return free_[row]; }

    // Adds a new machine of the pool for `wanted` and no pod; kNone: unavailable.
    std::size_t add_machine(std::size_t pool, const Amounts& wanted);
    // Takes room of a slot for something other than a pod. Returns false if the slot has too little.
    bool reserve(std::size_t slot, const Amounts& wanted);

private:
    // Attempt holds the state of placing a pod.
    struct Attempt {
        PlacementPlan& plan;
        Variant& variant;
        Basis basis = Basis::existing;
        bool commits = true;               // false: only check whether there is a place
        std::vector<std::int32_t> limits;  // limits of the spread rules
        std::vector<std::int32_t> limits_of_others;
        bool spares_others = false;
        std::size_t looks = kNone;    // limit of slots with room that are examined
        bool avoids_planned = false;  // skips machines of the plan, which are for other pods
    };
    struct Offer {
        BitSet places;
        Fit fit;
    };
    Attempt attempt(PlacementPlan& plan, Kept kept, Basis basis, bool commits = true);
    void note_purposes();
    std::size_t decided_slot(const Demand& demand) const;
    std::size_t place_as_decided(const Demand& demand, PlacementPlan& plan, Basis basis);
    std::size_t trust_decision(PlacementPlan& plan, std::size_t slot, Basis basis);
    bool release(const Demand& demand);
    std::size_t place_on_ready(PlacementPlan& plan);
    void settle_new_machines(const Rules& rules);
    std::size_t place_among(PlacementPlan& plan, std::size_t from, std::size_t to, Basis basis);
    std::size_t find_preferred(PlacementPlan& plan, std::size_t from, bool spares_others);
    std::size_t place_sparing_others(PlacementPlan& plan, std::size_t from);
    std::size_t place_or_add_machine(Attempt& attempt, std::size_t from);
    void give_up_preferences(PlacementPlan& plan);
    std::size_t place_on_new_machine(PlacementPlan& plan);
    std::size_t add_machine_for(PlacementPlan& plan);
    std::size_t find(Attempt& attempt, std::size_t from, std::size_t to);
    bool spares_others(const Attempt& attempt, std::size_t slot, std::size_t row) const;
    std::size_t find_node(Attempt& attempt, std::size_t from, std::size_t to);
    double free_share(std::size_t row, const Amounts& requests) const;
    bool is_kept_empty(std::size_t row) const;
    bool try_node(Attempt& attempt, std::size_t slot);
    bool try_new_machine(Attempt& attempt, std::size_t slot);
    bool may_launch() const { return new_machines_.size() < most_machines_; }
    std::size_t open(Attempt& attempt);
    std::size_t launch(const Attempt& attempt, std::size_t pool, Offer offer);
    std::size_t place_as_planned(const Demand& demand, PlacementPlan& plan);
    std::size_t open_planned(std::size_t planned, PlacementPlan& plan);
    std::optional<Offer> offer_of(Attempt& attempt, std::size_t pool);
    template <class TryFit>
    std::optional<Offer> best_offer(Attempt& attempt, std::size_t pool, BitSet places, std::size_t current,
                                    const TryFit& try_fit);
    std::size_t preferred_place(const Attempt& attempt, std::size_t pool, const BitSet& places,
                                std::size_t current) const;
    void learn_slots(Candidates& candidates);
    std::size_t append_machine(std::size_t pool, Offer offer, const Amounts& wanted);
    void update_machine(std::size_t slot, Offer offer, const Amounts& wanted);
    void count_in(const Attempt& attempt, std::size_t slot, std::size_t row);
    std::int64_t revision_of(const Variant& variant) const;

    const Snapshot& snapshot_;
    Rows& rows_;
    const NodeOrder order_;
    Topology topology_;
    Plans plans_;
    UsedHostPorts ports_;
    VolumeUsage volume_usage_;
    std::vector<Amounts> free_;  // by node
    NewMachines new_machines_;
    std::vector<std::size_t> pool_order_;
    std::unordered_map<std::string_view, std::size_t> decided_;  // slots, by the UIDs of their intended pods
    std::unordered_map<const api::Pod*, std::size_t> held_;      // slots where room is held for pods
    std::int64_t given_up_ = 0;
    RoomTree room_;                       // by slot
    std::vector<const BitSet*> blocked_;  // for the running attempt
    std::size_t most_machines_ = kNone;
    const MachinePlan* machine_plan_ = nullptr;
    std::vector<std::size_t> slot_of_planned_;  // by machine of the plan; kNone: not launched yet
    BitSet planned_slots_;
};

}  // namespace scheduling

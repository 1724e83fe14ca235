// Holds what must be known to place the pods of one class, computed once.
#pragma once
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "scheduling/machines/new_machines.hpp"
#include "scheduling/nodes/rows.hpp"
#include "scheduling/pods/pod_class.hpp"
#include "scheduling/topology/topology.hpp"
#include "scheduling/volumes/volume_usage.hpp"
#include "scheduling/volumes/volumes.hpp"

namespace scheduling {

// Candidates holds where pods with the same node demands may be.
struct Candidates {
    BitSet rows;
    std::vector<BitSet> places;  // suitable places by pool
    BitSet slots;                // slots that may suit; unsuitable ones are removed permanently
    std::size_t known_slots = 0;
};

// Variant holds the demands of a class with some of its preferences.
struct Variant {
    Rules rules;
    Candidates* candidates = nullptr;
    std::vector<CounterId> touched;  // counters whose domain is decided when a pod is placed
};

struct PlacementPlan {
    ClassId id = 0;
    const PodClass* pod_class = nullptr;
    const Amounts* requests = nullptr;
    Room room;
    std::vector<HostPort> ports;
    VolumeDemand volumes;
    std::string problem;  // why no node can run the pod; empty: none
    Rules others;         // see Topology::spreads_of_others(); includes soft rules, which cause no launches
    std::size_t preferences = 0;
    Kept kept = 0;  // preferences that could be kept until now; dropped ones are not tried again
    std::map<Kept, Variant> variants;
    // State of the counters in which no ready node was found, or no place.
    std::optional<std::int64_t> no_ready_node_at;
    std::optional<std::int64_t> no_place_at;
    std::optional<std::int64_t> no_last_resort_at;
};

class Plans {
public:
    Plans(const Snapshot& snapshot, PodClasses& classes, Rows& rows, Topology& topology)
        : snapshot_(snapshot),
          classes_(classes),
          rows_(rows),
          topology_(topology),
          volumes_(snapshot),
          storage_(snapshot, rows) {}

    PlacementPlan& of(ClassId id);
    Variant& variant(PlacementPlan& plan, Kept kept);
    VolumeIndex& volumes() { return volumes_; }
    // Returns a volume to be provisioned for the pod that no machine of the pool could have; null: none.
    const Provision* without_room(ClassId id, std::size_t pool);
    // See StorageCapacity::decider().
    StorageCapacity::Decider decider_of_room(std::size_t pool, const Provision& provision) {
        return storage_.decider(pool, provision);
    }

private:
    PlacementPlan made(ClassId id);
    Candidates& candidates(const PlacementPlan& plan, Kept kept);
    BitSet suitable_rows(const PlacementPlan& plan, Kept kept);
    std::vector<CounterId> touched(const PlacementPlan& plan, const Rules& rules) const;

    const Snapshot& snapshot_;
    PodClasses& classes_;
    Rows& rows_;
    Topology& topology_;
    VolumeIndex volumes_;
    StorageCapacity storage_;
    std::deque<PlacementPlan> plans_;  // by class
    std::vector<PlacementPlan*> by_class_;
    // Keyed by filter and, for kept node preferences, by topology and those preferences.
    std::map<std::tuple<std::uint32_t, std::uint32_t, Kept>, Candidates> candidates_;
};

}  // namespace scheduling

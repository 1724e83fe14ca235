// What the scheduling engine is told: values only, so that equal snapshots give equal answers. Whoever
// makes a snapshot decides what the cluster is; the engine decides where pods go.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "api/v1alpha1/machine_template.hpp"
#include "scheduling/input/prices.hpp"

namespace scheduling {

// A place where machines are made, usually a hypervisor host, with what may still be launched there. The
// solve uses it up. nullopt = no bound.
struct Place {
    std::string name;
    std::optional<MachineSize> largest;  // that one machine can have, however much is free
    std::vector<MachineSize> refused;    // found no room here: nothing that is at least as large will
    std::optional<base::Saturating> free_cpu_cores;
    std::optional<base::Saturating> free_memory_mib;
    std::optional<base::Saturating> free_machines;
    // A machine here is the whole of it (bare metal): of exactly the size that is free.
    bool is_whole = false;
};

// A limit that several launches share: a pool's, a ControlPlane's, or a pause between launches. Holds what
// is left; nullopt = unlimited. `name` completes "cut by ...": "limits.maxNodes of pool small".
struct Budget {
    std::string name;
    std::optional<base::Saturating> nodes;
    std::optional<base::Saturating> cpu_cores;
    std::optional<base::Saturating> memory_mib;
};

// One of a pool's places, and what is particular to a Node of the pool there.
struct PlaceOfPool {
    std::size_t place = 0;  // index into Snapshot::places
    std::string zone;       // value for claim.spec.zone
    api::StringMap labels;  // that a Node gets there beyond Pool::labels: zone, host
};

inline constexpr std::int64_t kDefaultPodsPerNode = 110;  // the kubelet's own default

// A machine as it is launched, before the system takes its part.
struct Shape {
    std::string name;
    base::Saturating cpu_cores = 0;
    base::Saturating memory_mib = 0;
    std::int64_t pods = kDefaultPodsPerNode;
    std::string refused{};  // why no machine of this shape may be launched now, for people; empty: it may
};

// Room that shall always be there, beyond the pods: launched for if missing.
struct SpareRoom {
    base::Saturating cpu_cores = 0;
    base::Saturating memory_mib = 0;
    std::int64_t nodes = 0;  // without any pod but those of DaemonSets
};

struct Pool {
    std::string namespace_;
    std::string name;
    std::int32_t weight = 0;
    std::string closed;               // why nothing may be launched now, for people; empty: it may
    bool closed_for_a_while = false;  // and it opens by itself

    // Everything that a Node of the pool carries when it is Initialized, without kubernetes.io/hostname and
    // kubenodesmith.io/nodeclaim, which differ for each Node. Startup taints are no concern of the solve.
    api::StringMap labels;
    api::StringMap notes_on_labels;  // what is said to those who want another value of a label, by its key
    std::vector<api::Taint> taints;
    api::StringMap notes_on_taints;  // what is said to those who do not tolerate a taint, by its key

    std::vector<Shape> shapes;                         // empty: machines are sized to their pods
    api::v1alpha1::FlexibleSize flexible;              // their bounds
    std::int64_t pods_per_node = kDefaultPodsPerNode;  // of flexible machines
    api::v1alpha1::SystemReserved reserved;            // capacity - allocatable
    std::int64_t memory_overhead_mib = 0;              // that Nodes show beyond the size of their machine
    Prices prices;
    std::optional<base::Saturating> ephemeral_storage_mib;  // for pods; nullopt: not known, counts as 4 PiB
    api::ResourceList extended_resources;                   // beyond those above
    std::map<std::string, std::int64_t> volume_limits;      // stated: what a machine attaches, by CSI driver

    std::vector<PlaceOfPool> places;   // empty: nothing can be made
    std::string why_no_place;          // then: what is wrong with each host, for people
    std::vector<std::size_t> budgets;  // indices into Snapshot::budgets

    std::int64_t min_nodes = 0;
    SpareRoom spare;
};

enum class Availability {
    ready,    // Initialized: the kube-scheduler can use it now
    coming,   // a live claim whose Node is not Initialized yet, or is not even there
    leaving,  // takes no pods; those on it that come back elsewhere need a place
};

// A Node, or what a claim's Node will be: then `node` is made up from the claim (metadata.name, labels,
// taints, allocatable). While it is coming, startup taints and those that the cluster itself puts on young
// Nodes are ignored.
struct Node {
    std::shared_ptr<const api::Node> node;
    std::vector<std::shared_ptr<const api::Pod>> pods;  // on it, in any order, also DaemonSets' and finished
    Availability availability = Availability::ready;
    std::optional<std::size_t> pool;  // index into Snapshot::pools
    // UIDs of the pods that it was launched for. As long as they wait it is the first that they are tried on,
    // so that what was once decided stays decided.
    std::vector<std::string> bought_for;
    // On which host it will stand is not known yet. Its labels are incomplete, and yet it suits those pods.
    bool is_unplaced = false;
    std::vector<api::Taint> startup_taints;
    std::shared_ptr<const api::CSINode> csi;  // null: no attach limits known
    // It has just come: its CSI drivers may not have reported yet what room they have there.
    bool is_settling = false;
    // Its machine was made by the pool's template as it is now.
    bool is_of_present_template = true;
    // Leaving, but until it is gone it is, without pods, one of the domains that hard spreads look at.
    bool is_vacated_domain = false;
};

// Volumes, by what pods say of them. Look-ups are made only for pods with claims.
struct Volumes {
    std::vector<std::shared_ptr<const api::PersistentVolumeClaim>> claims;
    std::vector<std::shared_ptr<const api::PersistentVolume>> volumes;
    std::vector<std::shared_ptr<const api::StorageClass>> classes;
    std::vector<std::shared_ptr<const api::CSIDriver>> drivers;
    std::vector<std::shared_ptr<const api::CSIStorageCapacity>> capacities;
};

// What pods prefer: affinity and anti-affinity, spreads with ScheduleAnyway, nodes without soft taints.
enum class Preferences {
    respect,     // launched for like requirements, given up one at a time where they can't be kept
    where_free,  // they choose among machines, and never cause one
    ignore,
};

struct Snapshot {
    std::vector<std::shared_ptr<const api::Pod>> pods;  // to be placed
    std::vector<Node> nodes;
    std::vector<std::shared_ptr<const api::DaemonSet>> daemon_sets;
    std::vector<std::shared_ptr<const api::Namespace>> namespaces;          // for namespace selectors
    std::vector<std::shared_ptr<const api::LimitRange>> limit_ranges;       // for pods of DaemonSets
    std::vector<std::shared_ptr<const api::RuntimeClass>> runtime_classes;  // the same
    // Pods of DaemonSets that found no room on their node yet; for no one to place.
    std::vector<std::shared_ptr<const api::Pod>> waiting_daemon_pods;
    Volumes volumes;
    // UIDs of pods whose data is on the disk of their node. They can run nowhere else, so they need no place
    // when it leaves.
    std::set<std::string> tied_pods;
    // Pods of lower priority on leaving nodes need no place elsewhere.
    std::int32_t expendable_below = std::numeric_limits<std::int32_t>::min();

    std::vector<Pool> pools;
    std::vector<Place> places;
    std::vector<Budget> budgets;
    Preferences preferences = Preferences::respect;
};

}  // namespace scheduling

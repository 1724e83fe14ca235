// Defines the input of the scheduling engine: values only, so that equal snapshots give equal results. The
// snapshot's maker decides what the cluster is; the engine decides where pods run.
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

// Place describes where machines are created, usually a hypervisor host, and its remaining room. The
// solve uses it up. nullopt = no bound.
struct Place {
    std::string name;
    std::optional<MachineSize> largest;  // for one machine, however much is free
    std::vector<MachineSize> refused;    // sizes without room here; larger sizes have none either
    std::optional<base::Saturating> free_cpu_cores;
    std::optional<base::Saturating> free_memory_mib;
    std::optional<base::Saturating> free_machines;
    // A machine takes the whole place (bare metal): it has exactly the free size.
    bool is_whole = false;
};

// Budget is a limit that several launches share: a pool's, a ControlPlane's, or a pause between launches. It
// holds what is left; nullopt = unlimited. `name` completes "cut by ...": "limits.maxNodes of pool small".
struct Budget {
    std::string name;
    std::optional<base::Saturating> nodes;
    std::optional<base::Saturating> cpu_cores;
    std::optional<base::Saturating> memory_mib;
    bool is_pace = false;  // what it cuts now is launched later
};

// PlaceOfPool is one of a pool's places, with what is specific to the pool's Nodes there.
struct PlaceOfPool {
    std::size_t place = 0;  // index into Snapshot::places
    std::string zone;       // value for claim.spec.zone
    api::StringMap labels;  // labels of Nodes there in addition to Pool::labels: zone, host
};

// BusyHost is a host that suits a pool but can take no machine now: it is in use or offline.
struct BusyHost {
    std::string name;
    api::StringMap labels;               // as in PlaceOfPool
    std::optional<MachineSize> largest;  // for one machine; nullopt: unknown
    bool is_whole = false;               // see Place
};

inline constexpr std::int64_t kDefaultPodsPerNode = 110;  // the kubelet's default

// MachineShape is a machine as it is launched, before the system takes its part.
struct MachineShape {
    std::string name;
    base::Saturating cpu_cores = 0;
    base::Saturating memory_mib = 0;
    std::int64_t pods = kDefaultPodsPerNode;
    std::string refused{};  // why no machine of this shape may be launched now, for people; empty: it may
};

// SpareRoom is room that must always exist in addition to the pods. Missing room causes launches.
struct SpareRoom {
    base::Saturating cpu_cores = 0;
    base::Saturating memory_mib = 0;
    std::int64_t nodes = 0;  // nodes without any pod except those of DaemonSets
};

// LearnedDaemon is what pods of a DaemonSet requested on former Nodes of a pool.
struct LearnedDaemon {
    std::string uid;                  // of the DaemonSet
    std::string template_generation;  // as template_generation() returns it
    base::Saturating cpu_millicores = 0;
    base::Saturating memory_mib = 0;
};

struct Pool {
    std::string namespace_;
    std::string name;
    std::int32_t weight = 0;
    std::string closed;               // why nothing may be launched now, for people; empty: it may
    bool closed_for_a_while = false;  // and it opens by itself

    // Labels of every initialized Node of the pool. They exclude kubernetes.io/hostname and
    // kubenodesmith.io/nodeclaim, which differ for each Node. The solve ignores startup taints.
    api::StringMap labels;
    api::StringMap notes_on_labels;  // message for pods that want another value of a label, by its key
    std::vector<api::Taint> taints;
    api::StringMap notes_on_taints;  // message for pods that do not tolerate a taint, by its key

    std::vector<MachineShape> shapes;                  // empty: machines are sized to their pods
    api::v1alpha1::FlexibleSize flexible;              // bounds of these machines
    std::int64_t pods_per_node = kDefaultPodsPerNode;  // for flexible machines
    api::v1alpha1::SystemReserved reserved;            // capacity - allocatable
    std::int64_t memory_overhead_mib = 0;              // memory that Nodes report beyond their machine's size
    Prices prices;
    std::optional<base::Saturating> ephemeral_storage_mib;  // for pods; nullopt: unknown, counts as 4 PiB
    api::ResourceList extended_resources;                   // in addition to those above
    std::map<std::string, std::int64_t> volume_limits;  // stated limits of volumes per machine, by CSI driver
    api::ResourceList storage_capacity;  // stated room for volumes on a new machine, by StorageClass
    // What former Nodes of the pool showed. It counts where none of its present Nodes shows anything.
    std::map<std::string, std::int64_t> learned_volume_limits;
    std::vector<LearnedDaemon> learned_daemons;
    std::optional<std::vector<std::string>>
        declared_features;  // of its kubelets; nullopt: unknown, counts as all

    std::vector<PlaceOfPool> places;   // empty: nothing can be created
    std::string why_no_place;          // set if places is empty: the problem of each host, for people
    std::vector<BusyHost> busy;        // only for explanations
    std::vector<std::size_t> budgets;  // indices into Snapshot::budgets

    std::int64_t min_nodes = 0;
    SpareRoom spare;
};

enum class Availability {
    ready,    // Initialized: the kube-scheduler can use it now
    coming,   // a live claim whose Node is not Initialized or does not exist yet
    leaving,  // takes no pods; those of its pods that return elsewhere need a place
};

// NodeInfo describes a Node, or the future Node of a claim. In the latter case `node` is made from the claim
// (metadata.name, labels, taints, allocatable). While it is coming, startup taints and the cluster's own
// taints on young Nodes are ignored.
struct NodeInfo {
    std::shared_ptr<const api::Node> node;
    std::vector<std::shared_ptr<const api::Pod>> pods;  // all its pods, in any order
    Availability availability = Availability::ready;
    std::optional<std::size_t> pool;  // index into Snapshot::pools
    // UIDs of the pods that it was launched for. While they wait, they are tried on it first, so
    // that earlier decisions are kept.
    std::vector<std::string> launched_for;
    // Its host is unknown yet. Its labels are incomplete, but it suits those pods nevertheless.
    bool is_unplaced = false;
    std::vector<api::Taint> startup_taints;
    std::shared_ptr<const api::CSINode> csi;  // null: no attach limits known
    // It is new: its CSI drivers may not have reported their room there yet.
    bool is_settling = false;
    // Its machine was made from the pool's present template.
    bool is_of_present_template = true;
    // It is leaving. Until it is gone, it counts as a domain without pods in hard spreads.
    bool is_vacated_domain = false;
};

// Volumes holds volumes as pods refer to them. They are looked up only for pods with claims.
struct Volumes {
    std::vector<std::shared_ptr<const api::PersistentVolumeClaim>> claims;
    std::vector<std::shared_ptr<const api::PersistentVolume>> volumes;
    std::vector<std::shared_ptr<const api::StorageClass>> classes;
    std::vector<std::shared_ptr<const api::CSIDriver>> drivers;
    std::vector<std::shared_ptr<const api::CSIStorageCapacity>> capacities;
    // They count on their nodes until the volumes are detached, also without a pod.
    std::vector<std::shared_ptr<const api::VolumeAttachment>> attachments;
};

// PreferencePolicy says how to treat pods' preferences: affinity and anti-affinity, spreads with
// ScheduleAnyway, nodes without soft taints.
enum class PreferencePolicy {
    respect,  // they cause launches like requirements, but are given up one at a time if they cannot be met
    where_free,  // they select among machines and never cause one
    ignore,
};

struct Snapshot {
    std::vector<std::shared_ptr<const api::Pod>> pods;  // to be placed
    std::vector<NodeInfo> nodes;
    std::vector<std::shared_ptr<const api::DaemonSet>> daemon_sets;
    std::vector<std::shared_ptr<const api::Namespace>> namespaces;          // for namespace selectors
    std::vector<std::shared_ptr<const api::LimitRange>> limit_ranges;       // for pods of DaemonSets
    std::vector<std::shared_ptr<const api::RuntimeClass>> runtime_classes;  // for pods of DaemonSets
    // Pods of DaemonSets that have found no room on their node yet; the solve does not place them.
    std::vector<std::shared_ptr<const api::Pod>> waiting_daemon_pods;
    Volumes volumes;
    // UIDs of pods whose data is on the disk of their node. They can run nowhere else, so
    // they need no place when it leaves.
    std::set<std::string> tied_pods;
    // Pods on nodes that come back with other requests than they have now, as they come back; by UID.
    std::map<std::string, std::shared_ptr<const api::Pod>> returning;
    // Pods with a lower priority on leaving nodes need no place elsewhere.
    std::int32_t expendable_below = std::numeric_limits<std::int32_t>::min();

    std::vector<Pool> pools;
    std::vector<Place> places;
    std::vector<Budget> budgets;
    PreferencePolicy preferences = PreferencePolicy::respect;
};

}  // namespace scheduling

// Holds everything the operator knows about the cluster: one informer per kind, with the indexes that the
// reconcilers use. It is built in operator/ and shared by reference. Decisions are functions of these stores.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <string>

#include "api/core.hpp"
#include "api/shared_parts.hpp"
#include "base/task_group.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/cache/managed_namespaces.hpp"
#include "controllers/cache/pod_groups.hpp"
#include "controllers/cache/released_volumes.hpp"
#include "controllers/cache/request_history.hpp"
#include "controllers/cache/unread.hpp"
#include "kube/informer.hpp"

namespace controllers {

// These are index names. Values of namespaced references are "namespace/name".
inline constexpr const char* kPodsByNode = "node";                  // spec.nodeName
inline constexpr const char* kPodsUnschedulable = "unschedulable";  // "true"; see is_unschedulable()
inline constexpr const char* kNodesBySystemUuid = "system-uuid";    // lower case
inline constexpr const char* kNodesByProviderId = "provider-id";
inline constexpr const char* kClaimsByPool = "pool";               // namespace/poolRef
inline constexpr const char* kClaimsByNode = "node";               // status.nodeName
inline constexpr const char* kClaimsBySystemUuid = "system-uuid";  // status.systemUUID, lower case
inline constexpr const char* kClaimsByToken = "token";       // ID of the present attempt's bootstrap token
inline constexpr const char* kClaimsByName = "name";         // metadata.name, in all namespaces
inline constexpr const char* kPoolsByProvider = "provider";  // namespace/providerRef
inline constexpr const char* kHostsByProvider = "provider";  // namespace/providerRef
inline constexpr const char* kHostsBySystemUuid = "system-uuid";  // status.systemUUID, by uuid_key()
inline constexpr const char* kVolumeAttachmentsByNode = "node";   // spec.nodeName
inline constexpr const char* kNodesByHostname = "hostname";       // by hostname_of()
inline constexpr const char* kVolumesByPlace = "place";           // by places_of()

class Informers {
    api::SharedParts parts_;  // shared parts of pods

public:
    // Objects of our kinds outside the `managed` namespaces are in no store; see unmanaged.hpp.
    Informers(kube::Client& client, base::Clock& clock, base::Random& random, asio::any_io_executor executor,
              ManagedNamespaces managed = {});
    ~Informers();  // not inline, because every user would then compile all informers

    const ManagedNamespaces managed;
    kube::Informer<api::Pod> pods;  // without Succeeded or Failed pods; see forget_unread()
    kube::Informer<api::Node> nodes;
    kube::Informer<api::DaemonSet> daemon_sets;
    kube::Informer<api::Namespace> namespaces;
    kube::Informer<api::LimitRange> limit_ranges;
    kube::Informer<api::RuntimeClass> runtime_classes;
    kube::Informer<api::PersistentVolume> persistent_volumes;
    kube::Informer<api::PersistentVolumeClaim> persistent_volume_claims;
    kube::Informer<api::StorageClass> storage_classes;
    kube::Informer<api::CSIDriver> csi_drivers;
    kube::Informer<api::CSIStorageCapacity> csi_storage_capacities;
    kube::Informer<api::CSINode> csi_nodes;
    kube::Informer<api::VolumeAttachment> volume_attachments;
    kube::Informer<api::PodDisruptionBudget> pod_disruption_budgets;
    kube::Informer<NodeSmithProvider> providers;
    kube::Informer<NodeSmithPool> pools;
    kube::Informer<NodeSmithClaim> claims;
    kube::Informer<NodeSmithControlPlane> control_planes;
    kube::Informer<NodeSmithHost> hosts;

    RequestHistory request_history;    // of the pods
    ReleasedVolumes released_volumes;  // by the pods
    PodGroups pod_groups;              // those that were read

    void spawn_all(base::TaskGroup& group);
    asio::awaitable<void> wait_synced();
    // Reads claims, pools and control planes again. The last writes of another process may
    // not have passed the watches yet.
    asio::awaitable<void> catch_up(kube::Client& client);
    bool synced() const;
    // Lists all kinds again after the API server's data was restored from a backup.
    void list_anew();
    // Called by list_anew(), for the one informer that is not among these.
    std::function<void()> on_list_anew;
    // Names the kinds whose objects were not known to be current for ten minutes; empty: none. The operator
    // destroys nothing based on them.
    std::string stale_kinds() const;
    // Emits an Event for every object that cannot be decoded or loses a part when decoded. It includes
    // the objects that are known now.
    void report_odd_objects_to(kube::EventRecorder& events);
    // Returns one line for each kind: its age and the number of undecodable objects.
    std::string describe_caches() const;
};

// Returns the label kubernetes.io/hostname, or the Node's name if it lacks that label.
const std::string& hostname_of(const api::Node& node);

// Returns the values that the volume's node affinity may use to name nodes. These are hostnames, names, and
// values of labels that are neither zones nor regions.
std::vector<std::string> places_of(const api::PersistentVolume& volume);
// Reports whether values of the label may name nodes.
bool may_name_nodes(std::string_view label);

// Returns one of the two byte orders in which firmware writes a UUID. The result is the same for both.
std::string uuid_key(const std::string& system_uuid);

// Reports whether the scheduler found that no node fits. The pod is Pending, has no nodeName, is not being
// deleted, and has PodScheduled=False with reason Unschedulable.
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-conditions
bool is_unschedulable(const api::Pod& pod);
PodPointers unschedulable_pods(const Informers& informers);

}  // namespace controllers

// Written objects: users wrote them in files, and no cluster has them yet, so they have no UID. A snapshot
// completes them as the API server and its controllers would.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.hpp"
#include "api/pod.hpp"
#include "api/storage.hpp"

namespace kubenodesmith {

// PriorityClasses maps the names of classes to priorities.
class PriorityClasses {
public:
    // Adds the document if it is a PriorityClass.
    void note(const boost::json::object& document);
    // Sets a missing priority by the pod's class or the default class, as the API server would. Returns why
    // it refuses the pod, or nothing.
    std::string complete(api::Pod& pod, const boost::json::object& document) const;

private:
    std::map<std::string, std::int32_t> values_{{"system-cluster-critical", 2'000'000'000},
                                                {"system-node-critical", 2'000'001'000}};
    std::int32_t default_ = 0;
};

// Sets defaults, for example requests by limits. Marks a pod that has neither a status nor a node as
// unschedulable.
void complete(api::Pod& pod);

// WorkloadBounds limits the pods of all workloads, as a few lines can request any number of pods.
class WorkloadBounds {
public:
    // Counts `count` more pods of `bytes` each. Throws ViewError that names the workload if they exceed a
    // limit.
    void take(const std::string& workload, std::int64_t count, std::size_t bytes);

private:
    std::size_t pods_ = 150'000;                  // as many as in the largest Kubernetes clusters
    std::size_t bytes_ = std::size_t{512} << 20;  // size of their templates as JSON
};

struct WrittenWorkload {
    // They are numbered from 0, or from the first ordinal of a StatefulSet.
    std::vector<boost::json::object> pods;
    std::vector<api::PersistentVolumeClaim> volume_claims;  // only for a StatefulSet
};
// Returns the pods and volume claims that a Deployment, ReplicaSet, ReplicationController, StatefulSet or Job
// would create. For a CronJob, it returns those of one run. It returns nothing for other kinds, and nothing
// for a workload with a UID, whose pods are separate objects. Throws DecodeError, ViewError.
WrittenWorkload workload_of(const boost::json::object& document, WorkloadBounds& bounds);

// Returns the text member of that name; empty if it is missing or no text.
std::string text_in(const boost::json::object& parent, std::string_view name);
// Decodes an object. A missing namespace becomes "default". Throws DecodeError.
template <class T>
T decode_object(const boost::json::object& document) {
    auto object = api::decode<T>(document);
    if (T::kResource.namespaced && object.metadata.namespace_.empty()) object.metadata.namespace_ = "default";
    return object;
}

// Returns the object's name. One with generateName alone gets that prefix.
std::string written_name(const boost::json::object& metadata);
// Returns the object's namespace, "default" if none is written.
std::string written_namespace(const boost::json::object& document);
bool is_deployment(const boost::json::object& document);
// Reports whether the pods of the workload keep their numbers: it is a StatefulSet.
bool is_stateful_set(const boost::json::object& document);
// Reports whether the workload's controller replaces running pods when their template changes. Others only
// create the pods that are missing.
bool replaces_pods(const boost::json::object& document);
// Returns the replicas that the document states; nullopt: it states none, so the stored number stays.
std::optional<std::int64_t> stated_pods(const boost::json::object& document);
// Returns the ordinal of a StatefulSet's first pod.
std::int64_t first_ordinal(const boost::json::object& document);
// Returns the ordinal from which a StatefulSet replaces its pods.
std::int64_t partition_of(const boost::json::object& document);
// Reports whether the workload creates a pod only when those before it are Ready.
bool creates_in_order(const boost::json::object& document);
// Returns how many pods of an older template a Deployment keeps beside as many new ones as it has replicas.
std::int64_t surge_of(const boost::json::object& document);
// Returns why the workload has no pods for now, although it asks for some; empty: it has them.
std::string why_without_pods(const boost::json::object& document);
// Returns a scheduling gate of the pod, which the scheduler ignores until the gate is removed; empty: none.
std::string scheduling_gate_of(const boost::json::object& pod);
// Reports whether a controller made the pod for the workload.
bool is_pod_of(const api::Pod& pod, const boost::json::object& document);

// Reports whether workload_of() supports the kind.
bool is_workload(const boost::json::object& document);
// Reports whether the object is a written one, without a UID.
bool is_written(const boost::json::object& document);
bool is_cron_job(const boost::json::object& document);
// Returns, for example, "Deployment shop/web".
std::string title_of(const boost::json::object& document);

// UnknownKinds collects documents of kinds that plan does not consider, which may have pods or change their
// number.
class UnknownKinds {
public:
    void note(const boost::json::object& document);
    // Returns one sentence for each document with a pod template, or with an influence on pods in one of
    // these namespaces, and one for all others.
    std::vector<std::string> sentences(const std::set<std::string>& namespaces) const;

private:
    std::vector<std::string> with_pods_;
    std::vector<std::pair<std::string, std::string>> with_influence_;  // namespace, sentence
    std::map<std::string, std::size_t> others_;                        // their number by kind
};

}  // namespace kubenodesmith

// Objects as people write them down, completed as the API server and its controllers would: for pictures from
// files.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.hpp"
#include "api/pod.hpp"
#include "api/storage.hpp"

namespace kubenodesmith {

// What pods' priorityClassName stands for.
class PriorityClasses {
public:
    // Takes in what is a PriorityClass.
    void note(const boost::json::object& document);
    // A pod with a class, and without the number that the API server would have given it, gets it.
    void complete(api::Pod& pod, const boost::json::object& document) const;

private:
    std::map<std::string, std::int32_t> values_{{"system-cluster-critical", 2'000'000'000},
                                                {"system-node-critical", 2'000'001'000}};
    std::int32_t default_ = 0;
};

// Requests follow from limits, and a pod that has no status yet counts as one that the scheduler found no
// node for.
void complete(api::Pod& pod);

// What the pods of all workloads may cost: a few lines can ask for any number of them.
class WorkloadBounds {
public:
    // Throws ViewError naming the workload if `count` more pods of `bytes` each are too much.
    void take(const std::string& workload, std::int64_t count, std::size_t bytes);

private:
    std::size_t pods_ = 150'000;                  // as many as the largest clusters of Kubernetes have
    std::size_t bytes_ = std::size_t{512} << 20;  // of their templates, written as JSON
};

struct WrittenWorkload {
    std::vector<boost::json::object> pods;
    std::vector<api::PersistentVolumeClaim> volume_claims;  // of a StatefulSet
};
// Returns what a Deployment, ReplicaSet, ReplicationController, StatefulSet or Job would create, and a
// CronJob at one run. Returns nothing for everything else, and for one that exists (it has a UID), whose pods
// are objects of their own. Throws DecodeError, ViewError.
WrittenWorkload workload_of(const boost::json::object& document, WorkloadBounds& bounds);

// The member of that name; empty: it is no text, or is not there.
std::string text_in(const boost::json::object& parent, std::string_view name);
// Decodes an object, in the namespace "default" if it names none. Throws DecodeError.
template <class T>
T decode_object(const boost::json::object& document) {
    auto object = api::decode<T>(document);
    if (T::kResource.namespaced && object.metadata.namespace_.empty()) object.metadata.namespace_ = "default";
    return object;
}

// Whether workload_of() knows the kind.
bool is_workload(const boost::json::object& document);
// Whether it is only written down: it has no UID.
bool is_written(const boost::json::object& document);
bool is_cron_job(const boost::json::object& document);
// "Deployment shop/web"
std::string title_of(const boost::json::object& document);

// Collects the documents of which a plan knows neither the kind nor that it has no pods.
class UnknownKinds {
public:
    void note(const boost::json::object& document);
    // One for each that has a template of pods, and one for the others.
    std::vector<std::string> sentences() const;

private:
    std::vector<std::string> with_pods_;
    std::map<std::string, std::size_t> others_;  // how many, by kind
};

}  // namespace kubenodesmith

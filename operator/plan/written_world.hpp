// Adds written objects (see written_objects.hpp) to a snapshot of a cluster, completed as the API server and
// the controllers would.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "operator/plan/written_objects.hpp"
#include "scheduling/pods/pod_admission.hpp"

namespace kubenodesmith {

class WrittenWorld {
public:
    // The informers must already contain the objects from a cluster.
    WrittenWorld(controllers::Informers& informers, const PriorityClasses& priorities);

    // Adds a volume claim, unless the cluster has one of its name. Must be called before workloads that use
    // the claim are added.
    void take_claim(api::PersistentVolumeClaim claim, const std::string& title);
    // Adds a pod, unless the cluster has one of its name. Throws DecodeError.
    void take_pod(const boost::json::object& document);
    // Adds the pods of a workload that the cluster does not have yet. Must be called for StatefulSets first,
    // because their pods cannot have other names. Throws DecodeError, ViewError.
    void take_workload(const boost::json::object& document);
    // Adds a note if the API server would refuse the pods of a DaemonSet.
    void look_at(const api::DaemonSet& daemon_set, const std::string& title);

    const std::vector<std::string>& notes() const { return notes_; }
    // Returns the namespaces of written pods.
    const std::set<std::string>& namespaces() const { return namespaces_; }

private:
    // Adds the object, or returns why the API server would refuse it.
    std::string add(api::Pod pod, const boost::json::object& document);
    // Adds the pods, and claims for them, that are not there yet.
    std::string add_pods(const boost::json::object& document, WrittenWorkload workload);
    // Adds the pods that a StatefulSet lacks or replaces.
    std::string add_numbered(const boost::json::object& document, const WrittenWorkload& workload);
    // Reports whether a running pod is kept when its workload is applied.
    bool stays(const api::Pod& running, const api::Pod& written) const;
    // Returns the pods of the workload that run already and are kept when it is applied. Those that a new
    // template replaces end, except for those that a Deployment keeps beside the new ones.
    std::vector<std::shared_ptr<const api::Pod>> keep_running_pods(const boost::json::object& document,
                                                                   const api::Pod& written);
    // Ends the running pods that the workload has beyond the number that it states.
    void scale_down(const boost::json::object& document);
    void end(const api::Pod& pod);
    void adopt_pods(const api::ObjectKey& daemon_set);
    bool is_gated(const boost::json::object& pod, const std::string& title);
    std::string unused_name(const std::string& namespace_, const std::string& prefix);
    std::string add(api::PersistentVolumeClaim claim);
    std::string add_ephemeral(const api::Pod& pod);
    void bind_at_once(api::PersistentVolumeClaim& claim, const api::StorageClass& storage_class);
    void note_refusal(const std::string& title, const std::string& what, const std::string& refusal);

    controllers::Informers& informers_;
    const PriorityClasses& priorities_;
    scheduling::PodAdmission admission_;
    WorkloadBounds bounds_;
    std::vector<std::string> notes_;
    std::set<std::string> namespaces_;
    std::map<api::ObjectKey, std::size_t> next_numbers_;  // of pods, by namespace and prefix of their names
};

}  // namespace kubenodesmith

// Adds written objects (see written_objects.hpp) to a snapshot of a cluster, completed as the API server and
// the controllers would.
#pragma once

#include <boost/json/object.hpp>
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

    // Adds a volume claim. Must be called before workloads that use the claim are added.
    void take_claim(api::PersistentVolumeClaim claim, const std::string& title);
    // Adds a pod. Throws DecodeError.
    void take_pod(const boost::json::object& document);
    // Adds the pods of a workload. Throws DecodeError, ViewError.
    void take_workload(const boost::json::object& document);
    // Adds a note if the API server would refuse the pods of a DaemonSet.
    void look_at(const api::DaemonSet& daemon_set, const std::string& title);

    const std::vector<std::string>& notes() const { return notes_; }

private:
    // Adds the object, or returns why the API server would refuse it.
    std::string add(const boost::json::object& document);
    std::string add(api::PersistentVolumeClaim claim);
    std::string add_ephemeral(const api::Pod& pod);
    const api::StorageClass* class_of(const api::PersistentVolumeClaim& claim) const;
    void bind_at_once(api::PersistentVolumeClaim& claim, const api::StorageClass& storage_class);
    void note_refusal(const std::string& title, const std::string& what, const std::string& refusal);

    controllers::Informers& informers_;
    const PriorityClasses& priorities_;
    scheduling::PodAdmission admission_;
    WorkloadBounds bounds_;
    std::vector<std::string> notes_;
};

}  // namespace kubenodesmith

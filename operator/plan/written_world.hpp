// Objects that are only written down, put into the picture of a cluster as the API server and the controllers
// would complete them.
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
    // What is stored has to be in the informers already.
    WrittenWorld(controllers::Informers& informers, const PriorityClasses& priorities);

    // Takes in a volume claim. Those that are written down come before the workloads that use them.
    void take_claim(api::PersistentVolumeClaim claim, const std::string& title);
    // Takes in a pod. Throws DecodeError.
    void take_pod(const boost::json::object& document);
    // Takes in the pods of a workload. Throws DecodeError, ViewError.
    void take_workload(const boost::json::object& document);
    // Says whether the API server would refuse the pods of a DaemonSet.
    void look_at(const api::DaemonSet& daemon_set, const std::string& title);

    const std::vector<std::string>& notes() const { return notes_; }

private:
    // Returns why the API server refuses the pod, or nothing.
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

// What the API server fills in for the containers of a namespace when a pod is created there, by the
// namespace's LimitRanges. Source: k8s.io/kubernetes/plugin/pkg/admission/limitranger, and
// SetDefaults_LimitRangeItem in pkg/apis/core/v1/defaults.go.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/core.hpp"

namespace scheduling {

class LimitRanges {
public:
    explicit LimitRanges(const std::vector<std::shared_ptr<const api::LimitRange>>& all);

    // Requests and limits that the pod's containers do not state, as a pod created in the namespace gets
    // them. After set_pod_defaults(): a limit of the container's own is requested rather than the namespace's
    // default.
    void apply(const std::string& namespace_, api::PodSpec& pod) const;

private:
    std::map<std::string, api::ResourceRequirements> defaults_;  // of containers, by namespace
};

}  // namespace scheduling

// What the LimitRanges of a namespace do to what is created there: they fill in requests and limits, and
// refuse what is beyond their bounds. Source: k8s.io/kubernetes/plugin/pkg/admission/limitranger, and
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
    // Returns why the API server refuses the pod as it is after apply(), or nothing.
    std::string refusal(const std::string& namespace_, const api::PodSpec& pod) const;
    // The same of a volume claim.
    std::string refusal(const std::string& namespace_, const api::PersistentVolumeClaimSpec& claim) const;

private:
    using Ranges = std::vector<std::shared_ptr<const api::LimitRange>>;
    const Ranges& ranges_of(const std::string& namespace_) const;

    std::map<std::string, Ranges> ranges_;                       // by namespace
    std::map<std::string, api::ResourceRequirements> defaults_;  // of containers, by namespace
};

}  // namespace scheduling

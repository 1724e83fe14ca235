// Applies the LimitRanges of a namespace. They fill in requests and limits of new objects, and refuse what
// exceeds their bounds. Source: k8s.io/kubernetes/plugin/pkg/admission/limitranger, and
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

    // Fills in requests and limits that the pod's containers do not state, as for a new pod in the
    // namespace. Must be called after set_pod_defaults(): a container's own limit takes precedence over
    // the namespace's default request.
    void apply(const std::string& namespace_, api::PodSpec& pod) const;
    // Returns why the API server refuses the pod as it is after apply(), or nothing.
    std::string refusal(const std::string& namespace_, const api::PodSpec& pod) const;
    // Does the same for a volume claim.
    std::string refusal(const std::string& namespace_, const api::PersistentVolumeClaimSpec& claim) const;

private:
    using Ranges = std::vector<std::shared_ptr<const api::LimitRange>>;
    const Ranges& ranges_of(const std::string& namespace_) const;

    std::map<std::string, Ranges> ranges_;                       // by namespace
    std::map<std::string, api::ResourceRequirements> defaults_;  // for containers, by namespace
};

}  // namespace scheduling

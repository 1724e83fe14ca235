// Adds what the API server adds to pods with a RuntimeClass. Source:
// k8s.io/kubernetes/plugin/pkg/admission/runtimeclass.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/core.hpp"

namespace scheduling {

class RuntimeClasses {
public:
    explicit RuntimeClasses(const std::vector<std::shared_ptr<const api::RuntimeClass>>& all);

    // Gives the pod the overhead, the node selector and the tolerations of its class. Returns why the API
    // server refuses the pod, or nothing.
    std::string apply(api::PodSpec& pod) const;

private:
    std::map<std::string, std::shared_ptr<const api::RuntimeClass>, std::less<>> classes_;
};

}  // namespace scheduling

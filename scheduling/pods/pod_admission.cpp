#include "scheduling/pods/pod_admission.hpp"

#include "scheduling/pods/pod_defaults.hpp"

namespace scheduling {

std::string PodAdmission::admit(const std::string& namespace_, api::PodSpec& pod) const {
    set_pod_defaults(pod);
    limit_ranges_.apply(namespace_, pod);
    auto refusal = runtime_classes_.apply(pod);
    return refusal.empty() ? limit_ranges_.refusal(namespace_, pod) : refusal;
}

}  // namespace scheduling

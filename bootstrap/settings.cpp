#include "bootstrap/settings.hpp"

#include "bootstrap/kubelet.hpp"

namespace bootstrap {

using api::v1alpha1::BootstrapMethod;

std::string contradiction(const api::v1alpha1::Bootstrap& settings) {
    if (settings.method == BootstrapMethod::None) return {};
    return kubelet_problem(settings.kubelet.value_or(api::v1alpha1::Kubelet{}));
}

}  // namespace bootstrap

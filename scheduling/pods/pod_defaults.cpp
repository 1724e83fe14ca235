#include "scheduling/pods/pod_defaults.hpp"

#include "scheduling/table/amounts.hpp"

namespace scheduling {

namespace {

void set_defaults(api::Container& container, bool host_network) {
    container.resources.requests.insert(container.resources.limits.begin(), container.resources.limits.end());
    if (!host_network) return;
    for (auto& port : container.ports)
        if (port.hostPort == 0) port.hostPort = port.containerPort;
}

// Fills in requests of the whole pod for what is limited but not requested. They are the containers'
// requests or, without these, the limits.
void set_pod_level_defaults(api::PodSpec& pod) {
    if (!pod.resources || pod.resources->limits.empty()) return;
    auto containers = pod;
    containers.resources.reset();
    containers.overhead.reset();
    ResourceNames names;
    const auto sum = requests_of(containers, names);
    auto& requests = pod.resources->requests;
    if (sum.base[kCpu] > 0) requests.try_emplace("cpu", api::Quantity::of_milli(sum.base[kCpu]));
    if (sum.base[kMemory] > 0) requests.try_emplace("memory", api::Quantity::of(sum.base[kMemory]));
    requests.insert(pod.resources->limits.begin(), pod.resources->limits.end());
}

}  // namespace

void set_pod_defaults(api::PodSpec& pod) {
    for (auto& container : pod.containers) set_defaults(container, pod.hostNetwork);
    for (auto& container : pod.initContainers) set_defaults(container, pod.hostNetwork);
    set_pod_level_defaults(pod);
}

}  // namespace scheduling

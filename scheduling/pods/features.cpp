#include "scheduling/pods/features.hpp"

#include <algorithm>

namespace scheduling {

namespace {

bool restarts_all(const std::vector<api::Container>& containers) {
    return std::ranges::any_of(containers, [](const api::Container& container) {
        return std::ranges::any_of(container.restartPolicyRules, [](const api::ContainerRestartRule& rule) {
            return rule.action == "RestartAllContainers";
        });
    });
}

}  // namespace

std::vector<std::string_view> required_features(const api::PodSpec& pod) {
    std::vector<std::string_view> features;
    if (restarts_all(pod.containers) || restarts_all(pod.initContainers))
        features.emplace_back("RestartAllContainersOnContainerExits");
    if (pod.hostNetwork && pod.hostUsers == false) features.emplace_back("UserNamespacesHostNetworkSupport");
    return features;
}

}  // namespace scheduling

#include "bootstrap/kubelet.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace bootstrap {

namespace {

struct ReservedResource {
    std::string_view name;
    std::string_view instead;
};

// Lists arguments that identify a machine's Node or the cluster, and those that have a separate field.
constexpr auto kReserved = std::to_array<ReservedResource>({
    {"bootstrap-kubeconfig", "the join writes it"},
    {"cert-dir", "the join chooses it"},
    {"cloud-provider", "use bootstrap.kubelet.cloudProviderExternal"},
    {"config", "the join writes it"},
    {"config-dir", "the join chooses it"},
    {"hostname-override", "a Node has the name of its claim"},
    {"kubeconfig", "the join writes it"},
    {"max-pods", "use bootstrap.kubelet.maxPods"},
    {"node-ip", "use machineTemplate.network"},
    {"node-labels", "use machineTemplate.labels"},
    {"provider-id", "the operator sets it"},
    {"register-node", "every machine has to become a Node"},
    {"register-with-taints", "use machineTemplate.taints"},
});

bool is_name(std::string_view text) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";
    return !text.empty() && text.front() != '-' && text.find_first_not_of(kLetters) == text.npos;
}

bool is_one_line(std::string_view text) {
    return std::ranges::none_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

std::string problem_of(const std::string& name, const std::string& value) {
    const std::string field = "bootstrap.kubelet.extraArgs: ";
    if (!is_name(name))
        return field + "\"" + name + "\" is not the name of an argument: write it without dashes";
    const auto reserved = std::ranges::find(kReserved, name, &ReservedResource::name);
    if (reserved != kReserved.end())
        return field + name + " is not for extraArgs: " + std::string(reserved->instead);
    if (!is_one_line(value)) return field + "the value of " + name + " has more than one line";
    return {};
}

}  // namespace

KubeletArguments kubelet_arguments(const api::v1alpha1::Kubelet& kubelet) {
    KubeletArguments arguments(kubelet.extraArgs.begin(), kubelet.extraArgs.end());
    if (kubelet.maxPods > 0) arguments.emplace_back("max-pods", std::to_string(kubelet.maxPods));
    if (kubelet.cloudProviderExternal) arguments.emplace_back("cloud-provider", "external");
    return arguments;
}

std::string kubelet_problem(const api::v1alpha1::Kubelet& kubelet) {
    for (const auto& [name, value] : kubelet.extraArgs) {
        if (auto problem = problem_of(name, value); !problem.empty()) return problem;
    }
    return {};
}

}  // namespace bootstrap

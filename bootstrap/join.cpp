#include "bootstrap/join.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/text.hpp"
#include "bootstrap/custom.hpp"
#include "bootstrap/k0s.hpp"
#include "bootstrap/k3s.hpp"
#include "bootstrap/kubeadm.hpp"
#include "bootstrap/kubelet.hpp"
#include "bootstrap/talos.hpp"

namespace bootstrap {

using api::v1alpha1::BootstrapFormat;

JoinPlan plan_join(const JoinRequest& request) {
    if (request.node_name.empty()) throw std::invalid_argument("a join needs the Node's name");
    if (const auto problem = kubelet_problem(request.kubelet); !problem.empty())
        throw std::invalid_argument(problem);
    switch (request.format) {
        case BootstrapFormat::Kubeadm:
            return plan_kubeadm(request);
        case BootstrapFormat::K3s:
            return plan_k3s(request);
        case BootstrapFormat::RKE2:
            return plan_rke2(request);
        case BootstrapFormat::K0s:
            return plan_k0s(request);
        case BootstrapFormat::Talos:
            return plan_talos(request);
        case BootstrapFormat::Custom:
            return plan_custom(request);
        case BootstrapFormat::Unrecognized:
            break;
    }
    throw std::invalid_argument("unknown bootstrap format");
}

std::vector<api::Taint> registration_taints(const std::vector<api::Taint>& taints,
                                            const std::vector<api::Taint>& startup_taints) {
    std::vector<api::Taint> all{
        {std::string(api::taints::kUnregistered), "", std::string(api::taints::kNoExecute)}};
    const auto add = [&](const api::Taint& taint) {
        if (!api::find_taint(all, taint.key, taint.effect)) all.push_back(taint);
    };
    std::ranges::for_each(taints, add);
    std::ranges::for_each(startup_taints, add);
    return all;
}

bool kubelet_may_set(std::string_view label_key) {
    static constexpr std::array<std::string_view, 12> kKnown = {
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.kubernetes.io/region",
        "failure-domain.kubernetes.io/zone",
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
    };
    if (std::ranges::find(kKnown, label_key) != kKnown.end() || label_key == api::labels::kZone) return true;
    const auto slash = label_key.find('/');
    if (slash == std::string_view::npos) return true;
    const auto domain = label_key.substr(0, slash);
    const auto is_or_is_below = [&](std::string_view parent) {
        return domain == parent ||
               (domain.ends_with(parent) && domain[domain.size() - parent.size() - 1] == '.');
    };
    if (is_or_is_below("kubelet.kubernetes.io") || is_or_is_below("node.kubernetes.io")) return true;
    return !is_or_is_below("kubernetes.io") && !is_or_is_below("k8s.io");
}

std::vector<std::string> label_texts(const api::StringMap& labels) {
    std::vector<std::string> texts;
    for (const auto& [key, value] : labels)
        if (kubelet_may_set(key)) texts.push_back(key + "=" + value);
    return texts;
}

std::string label_list(const api::StringMap& labels) {
    return base::joined(label_texts(labels), ",");
}

std::vector<std::string> taint_texts(const std::vector<api::Taint>& taints) {
    std::vector<std::string> texts;
    texts.reserve(taints.size());
    for (const auto& taint : taints) texts.push_back(taint.key + "=" + taint.value + ":" + taint.effect);
    return texts;
}

std::string taint_list(const std::vector<api::Taint>& taints) {
    return base::joined(taint_texts(taints), ",");
}

}  // namespace bootstrap

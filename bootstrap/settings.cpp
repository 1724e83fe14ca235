#include "bootstrap/settings.hpp"

#include "bootstrap/cluster_info.hpp"
#include "bootstrap/kubelet.hpp"

namespace bootstrap {

using api::v1alpha1::Bootstrap;
using api::v1alpha1::BootstrapApproval;
using api::v1alpha1::BootstrapDelivery;
using api::v1alpha1::BootstrapFormat;
using api::v1alpha1::BootstrapMethod;
using api::v1alpha1::BootstrapUserData;

namespace {

std::string problem_of_talos(const Bootstrap& settings) {
    if (settings.method != BootstrapMethod::CloudInit)
        return "bootstrap.format Talos needs bootstrap.method CloudInit: its machines have no guest agent "
               "that runs "
               "commands";
    if (!settings.machineConfigSecretRef)
        return "bootstrap.format Talos needs bootstrap.machineConfigSecretRef: the Secret with the machine "
               "configuration of a worker";
    if (settings.userData == BootstrapUserData::Ignition)
        return "bootstrap.userData Ignition has no effect with bootstrap.format Talos: leave it out";
    return {};
}

std::string problem_of_ignition(const Bootstrap& settings) {
    if (settings.method != BootstrapMethod::CloudInit || settings.delivery != BootstrapDelivery::ISO)
        return "bootstrap.userData Ignition needs bootstrap.method CloudInit and delivery ISO: on Proxmox VE "
               "Ignition "
               "reads nothing else";
    return {};
}

std::string problem_of_version(const Bootstrap& settings) {
    const bool is_installed =
        settings.format == BootstrapFormat::K3s || settings.format == BootstrapFormat::RKE2;
    if (settings.version.empty()) return {};
    if (!is_installed) return "bootstrap.version is for the formats K3s and RKE2";
    if (!is_release(settings.version))
        return "bootstrap.version is not a version such as v1.33.1+k3s1 or v1.33.1+rke2r1";
    return {};
}

}  // namespace

bool asks_for_certificate(BootstrapFormat format) {
    return format == BootstrapFormat::Kubeadm || format == BootstrapFormat::Talos;
}

bool trusts_every_token(BootstrapFormat format) {
    return format == BootstrapFormat::K3s || format == BootstrapFormat::RKE2 ||
           format == BootstrapFormat::K0s;
}

bool binds_tokens(const Bootstrap& settings) {
    return settings.approval == BootstrapApproval::Operator && !trusts_every_token(settings.format);
}

std::string contradiction(const Bootstrap& settings) {
    if (settings.method == BootstrapMethod::None) return {};
    if (auto problem = kubelet_problem(settings.kubelet.value_or(api::v1alpha1::Kubelet{})); !problem.empty())
        return problem;
    if (auto problem = problem_of_version(settings); !problem.empty()) return problem;
    if (settings.format == BootstrapFormat::Talos) return problem_of_talos(settings);
    if (settings.userData == BootstrapUserData::Ignition) return problem_of_ignition(settings);
    return {};
}

}  // namespace bootstrap

// Computes the arguments that a pool gives to its kubelets, whatever program starts them.
// https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/v1alpha1/bootstrap.hpp"

namespace bootstrap {

// Holds names, without dashes, and values.
using KubeletArguments = std::vector<std::pair<std::string, std::string>>;

// Returns extraArgs sorted by name, then max-pods and cloud-provider if they are set.
KubeletArguments kubelet_arguments(const api::v1alpha1::Kubelet& kubelet);

// Returns what is wrong, with the field and an alternative; empty: nothing.
std::string kubelet_problem(const api::v1alpha1::Kubelet& kubelet);

}  // namespace bootstrap

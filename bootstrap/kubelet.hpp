// The arguments that a pool gives to its kubelets, whatever program starts them.
// https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/v1alpha1/bootstrap.hpp"

namespace bootstrap {

// Name, without dashes, and value.
using KubeletArguments = std::vector<std::pair<std::string, std::string>>;

// extraArgs in the order of their names, then max-pods and cloud-provider where these are wished for.
KubeletArguments kubelet_arguments(const api::v1alpha1::Kubelet& kubelet);

// What is wrong with it, naming the field and what to use instead; empty: nothing.
std::string kubelet_problem(const api::v1alpha1::Kubelet& kubelet);

}  // namespace bootstrap

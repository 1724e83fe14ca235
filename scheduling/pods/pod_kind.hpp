// Determines which pods are alike in everything that decides where they can be. What was learned from one
// applies to the others, and to their successors.
#pragma once
#include <functional>
#include <string>

#include "api/pod.hpp"

namespace scheduling {

// Returns 16 hexadecimal digits, which are the same in every process. They cover the namespace, the labels,
// and what the kube-scheduler reads in the spec. They exclude the labels with which controllers distinguish
// their pods. `describe_claim` returns what matters of a volume claim in the pod's namespace.
std::string kind_of(const api::Pod& pod,
                    const std::function<std::string(const std::string& claim)>& describe_claim);

}  // namespace scheduling

// Which pods are alike in everything that decides where they can be: what one of them taught holds for the
// others, also for those that replace it.
#pragma once
#include <functional>
#include <string>

#include "api/pod.hpp"

namespace scheduling {

// 16 hexadecimal digits, made from namespace, labels (but those by which controllers tell their pods apart),
// and what the kube-scheduler looks at in the spec. The same in every process. `describe_claim` says of a
// volume claim of the pod's namespace what matters of it.
std::string kind_of(const api::Pod& pod,
                    const std::function<std::string(const std::string& claim)>& describe_claim);

}  // namespace scheduling

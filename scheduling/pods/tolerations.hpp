// Decides whether pods tolerate taints. Source: k8s.io/api/core/v1 (toleration.go, ToleratesTaint).
#pragma once
#include <string>
#include <vector>

#include "api/node.hpp"
#include "api/pod.hpp"

namespace scheduling {

bool tolerates(const api::Toleration& toleration, const api::Taint& taint);
// Returns the first taint that excludes a pod with these tolerations, or null; PreferNoSchedule never does.
const api::Taint* untolerated(const std::vector<api::Taint>& taints,
                              const std::vector<api::Toleration>& tolerations);
// Does the same for taints that only ask pods to stay away.
bool is_asked_away(const std::vector<api::Taint>& taints, const std::vector<api::Toleration>& tolerations);
// Reports whether the cluster puts this taint on Nodes that cannot be used yet, and removes it by itself.
bool passes_by_itself(const api::Taint& taint);
// Returns "dedicated=gpu:NoSchedule".
std::string describe(const api::Taint& taint);

}  // namespace scheduling

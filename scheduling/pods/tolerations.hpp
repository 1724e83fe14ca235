// Whether pods may go where taints are. Source: k8s.io/api/core/v1 (toleration.go, ToleratesTaint).
#pragma once
#include <string>
#include <vector>

#include "api/node.hpp"
#include "api/pod.hpp"

namespace scheduling {

bool tolerates(const api::Toleration& toleration, const api::Taint& taint);
// The first taint that keeps a pod with these tolerations away, or null; PreferNoSchedule never does.
const api::Taint* untolerated(const std::vector<api::Taint>& taints,
                              const std::vector<api::Toleration>& tolerations);
// The same for the taints that only ask to stay away.
bool is_asked_away(const std::vector<api::Taint>& taints, const std::vector<api::Toleration>& tolerations);
// Whether the cluster puts this taint on Nodes that cannot be used yet, and takes it off by itself.
bool passes_by_itself(const api::Taint& taint);
// "dedicated=gpu:NoSchedule".
std::string describe(const api::Taint& taint);

}  // namespace scheduling

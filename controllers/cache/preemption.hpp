// Recognizes pods that the scheduler removes to make room for others.
#pragma once
#include <algorithm>

#include "api/pod.hpp"

namespace controllers {

// Reports whether the condition says that the kube-scheduler preempts the pod. The scheduler writes it before
// it deletes the pod.
// https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions
inline bool is_preemption(const api::Condition& condition) {
    return condition.type == "DisruptionTarget" && condition.status == api::ConditionStatus::True &&
           condition.reason == "PreemptionByScheduler";
}

inline bool is_preempted(const api::Pod& pod) {
    return std::ranges::any_of(*pod.status.conditions, is_preemption);
}

}  // namespace controllers

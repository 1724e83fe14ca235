// Finds common mistakes for which the API server refuses written pods and workloads. Source:
// k8s.io/kubernetes/pkg/apis/{core,apps}/validation.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "api/pod.hpp"

namespace kubenodesmith {

// Returns why the API server refuses a pod that is completed with its defaults; empty: it does not.
std::string why_invalid(const api::PodSpec& pod);
// Returns why the API server refuses the workload itself; empty: it does not. Throws DecodeError.
std::string why_invalid(const boost::json::object& workload);

}  // namespace kubenodesmith

// Objects and paths that the cases of the contract send.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "test/simulation/contract/kubernetes/server.hpp"

namespace contract {

inline constexpr const char* kMergePatch = "application/merge-patch+json";
inline constexpr const char* kJsonPatch = "application/json-patch+json";
inline const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
inline const std::string kPods = "/api/v1/namespaces/default/pods";
inline const std::string kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
inline const std::string kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
inline constexpr const char* kOtherUid = "00000000-0000-0000-0000-00000000ffff";

// Returns the server of this program.
Server& server();

json::object config_map(const std::string& name, const std::string& value = "1");
// Returns a config map with the label mark=MARK.
json::object marked(const std::string& name, const std::string& mark);
// Returns {"metadata": {FIELD: value}}.
json::object metadata(const std::string& field, json::value value);
// Returns a pod labelled app=NAME on a node that no component knows. Nothing happens to this pod by itself,
// and it takes its time to end.
json::object pod(const std::string& name);
json::object budget(const std::string& name, int min_available);

// Creates a pod whose node reports it as running, and as ready or not. Returns the pod.
Answer running_pod(const std::string& name, bool ready = true);
// Does what a kubelet does when the containers of a pod have ended.
void end_pod(const std::string& name);
Answer evict(const std::string& pod, json::object delete_options = {});

// Returns the names of a list's items, sorted.
std::vector<std::string> names_of(const Answer& list);
// Returns each event as a text such as "ADDED name".
std::vector<std::string> told(const std::vector<json::object>& events);

}  // namespace contract

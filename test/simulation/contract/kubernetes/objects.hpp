// What the cases of the contract send, and where.
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

// The server of this program.
Server& server();

json::object config_map(const std::string& name, const std::string& value = "1");
// A config map with the label mark=MARK.
json::object marked(const std::string& name, const std::string& mark);
// {"metadata": {FIELD: value}}
json::object metadata(const std::string& field, json::value value);
// A pod labelled app=NAME on a node of which nobody knows, so that nothing happens to it by itself. It takes
// its time to end.
json::object pod(const std::string& name);
json::object budget(const std::string& name, int min_available);

// Creates a pod that its node calls running, and ready or not; returns it.
Answer running_pod(const std::string& name, bool ready = true);
// What a kubelet does when the containers of a pod have ended.
void end_pod(const std::string& name);
Answer evict(const std::string& pod, json::object delete_options = {});

// Names of a list's items, sorted.
std::vector<std::string> names_of(const Answer& list);
// "ADDED name" and so on.
std::vector<std::string> told(const std::vector<json::object>& events);

}  // namespace contract

#include "operator/commands/check.hpp"

#include <string_view>

#include "api/names.hpp"

namespace kubenodesmith {
namespace {

struct RoleRule {
    std::string_view group;
    std::vector<std::string_view> resources;
    std::vector<std::string_view> verbs;
};

std::vector<NeededRight> spread_out(const std::vector<RoleRule>& rules) {
    std::vector<NeededRight> all;
    for (const auto& rule : rules)
        for (const auto& resource : rule.resources)
            for (const auto& verb : rule.verbs)
                all.push_back({std::string(verb), std::string(rule.group), std::string(resource)});
    return all;
}

}  // namespace

const std::vector<NeededRight>& rights_of_operator() {
    static const auto all = spread_out({
        {api::kGroup, {"nodesmithproviders", "nodesmithpools"}, {"list", "watch", "patch"}},
        {api::kGroup, {"nodesmithhosts"}, {"get", "list", "watch", "patch"}},
        {api::kGroup, {"nodesmithcontrolplanes"}, {"list", "watch"}},
        {api::kGroup, {"nodesmithclaims"}, {"get", "list", "watch", "create", "patch", "delete", "operate"}},
        {api::kGroup,
         {"nodesmithproviders/status", "nodesmithhosts/status", "nodesmithpools/status",
          "nodesmithcontrolplanes/status", "nodesmithclaims/status"},
         {"patch"}},
        {api::kGroup, {"nodesmithpools/finalizers"}, {"update"}},
        {"",
         {"pods", "namespaces", "limitranges", "persistentvolumes", "persistentvolumeclaims"},
         {"list", "watch"}},
        {"", {"nodes"}, {"get", "list", "watch", "patch", "delete"}},
        {"", {"pods/eviction"}, {"create"}},
        {"", {"pods"}, {"delete"}},
        {"", {"pods/status"}, {"patch"}},
        {"apps", {"daemonsets"}, {"list", "watch"}},
        {"node.k8s.io", {"runtimeclasses"}, {"list", "watch"}},
        {"policy", {"poddisruptionbudgets"}, {"list", "watch"}},
        {"storage.k8s.io",
         {"storageclasses", "csidrivers", "csistoragecapacities", "csinodes", "volumeattachments"},
         {"list", "watch"}},
        {"", {"events"}, {"create", "patch"}},
        {"certificates.k8s.io", {"certificatesigningrequests"}, {"get", "list", "watch"}},
        {"certificates.k8s.io", {"certificatesigningrequests/approval"}, {"patch"}},
        {"networking.k8s.io", {"servicecidrs"}, {"list"}},
        {"authentication.k8s.io", {"tokenreviews"}, {"create"}},
        {"authorization.k8s.io", {"subjectaccessreviews"}, {"create"}},
    });
    return all;
}

}  // namespace kubenodesmith

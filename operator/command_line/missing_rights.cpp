#include "operator/command_line/missing_rights.hpp"

#include <map>
#include <set>
#include <string_view>

#include "base/text.hpp"

namespace kubenodesmith {
namespace {

constexpr const char* kRole = "kubenodesmith-planner";

// Returns the subject of a binding as YAML.
std::string subject_of(const std::string& user) {
    constexpr std::string_view kAccount = "system:serviceaccount:";
    const auto colon = user.rfind(':');
    if (user.starts_with(kAccount) && colon >= kAccount.size())
        return "{kind: ServiceAccount, name: " + user.substr(colon + 1) +
               ", namespace: " + user.substr(kAccount.size(), colon - kAccount.size()) + "}";
    return "{kind: User, apiGroup: rbac.authorization.k8s.io, name: \"" + (user.empty() ? "NAME" : user) +
           "\"}";
}

std::string rules_of(const std::vector<Right>& needed) {
    std::map<std::pair<std::string, std::set<std::string>>, std::set<std::string>> resources;
    std::map<std::pair<std::string, std::string>, std::set<std::string>> verbs;
    for (const auto& right : needed)
        verbs[{std::string(right.resource.group), std::string(right.resource.plural)}].insert(right.verb);
    for (const auto& [resource, its_verbs] : verbs)
        resources[{resource.first, its_verbs}].insert(resource.second);
    std::string text;
    for (const auto& [rule, plurals] : resources) {
        const auto& group = rule.first;
        text += "  - apiGroups: [" + (group.empty() ? std::string("\"\"") : group) + "]\n    resources: [" +
                base::joined(plurals) + "]\n    verbs: [" + base::joined(rule.second) + "]\n";
    }
    return text;
}

}  // namespace

std::string Right::str() const {
    auto text = verb + " " + std::string(resource.plural);
    if (!resource.group.empty()) text += "." + std::string(resource.group);
    return namespace_.empty() ? text : text + " in namespace " + namespace_;
}

std::string describe_missing(const std::vector<Right>& missing, const std::vector<Right>& needed,
                             const std::string& user, const std::string& hint) {
    auto text = (user.empty() ? std::string("the API server does not let you")
                              : "the API server does not let " + user) +
                ":\n";
    for (const auto& right : missing) text += "  " + right.str() + "\n";
    if (!hint.empty()) text += hint + "\n";
    const std::string group = "apiVersion: rbac.authorization.k8s.io/v1\n";
    return text + "This role is enough; an administrator can apply it:\n\n" + group +
           "kind: ClusterRole\nmetadata: {name: " + kRole + "}\nrules:\n" + rules_of(needed) + "---\n" +
           group + "kind: ClusterRoleBinding\nmetadata: {name: " + kRole +
           "}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + kRole +
           "}\nsubjects: [" + subject_of(user) + "]";
}

}  // namespace kubenodesmith

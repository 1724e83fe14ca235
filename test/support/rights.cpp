#include "test/support/rights.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>

#include "test/support/fake_api_target.hpp"

namespace fake {
namespace {

const std::string kOurGroup = "kubenodesmith.parawell.cloud";

std::string verb_of(const base::HttpRequest& request, const Target& target) {
    if (request.method == "POST") return "create";
    if (request.method == "PATCH") return "patch";
    if (request.method == "PUT") return "update";
    if (request.method == "DELETE") return target.name.empty() ? "deletecollection" : "delete";
    if (target.flag("watch")) return "watch";
    return target.name.empty() ? "list" : "get";
}

std::string resource_of(const Target& target) {
    auto resource = target.resource;
    if (!target.group.empty()) resource.resize(resource.size() - target.group.size() - 1);
    return target.subresource.empty() ? resource : resource + "/" + target.subresource;
}

bool blocks_its_owner(const json::object& object) {
    const auto* metadata = object.if_contains("metadata");
    const auto* owners = metadata ? metadata->as_object().if_contains("ownerReferences") : nullptr;
    return owners && std::ranges::any_of(owners->as_array(), [](const json::value& owner) {
               return text_at(owner.as_object(), {"blockOwnerDeletion"}) == "true";
           });
}

std::vector<std::string> texts(const json::object& rule, std::string_view member) {
    std::vector<std::string> found;
    const auto* values = rule.if_contains(member);
    if (!values) return found;
    for (const auto& value : values->as_array()) found.emplace_back(value.as_string());
    return found;
}

}  // namespace

std::string Right::text() const {
    auto text = verb + " " + resource + (group.empty() ? "" : "." + group);
    if (!name.empty()) text += " " + name;
    return namespace_.empty() ? text : text + " in " + namespace_;
}

Rights::Rights(const json::array& manifests) {
    for (const auto& manifest : manifests) {
        const auto kind = text_at(manifest.as_object(), {"kind"}).value_or("");
        if (kind == "Role" || kind == "ClusterRole") roles_.push_back(manifest.as_object());
    }
    for (const auto& manifest : manifests) {
        const auto& object = manifest.as_object();
        const auto kind = text_at(object, {"kind"}).value_or("");
        if (kind != "RoleBinding" && kind != "ClusterRoleBinding") continue;
        bind(text_at(object, {"roleRef", "name"}).value(), metadata_text(object, "namespace"));
    }
}

void Rights::bind(const std::string& role, const std::string& namespace_) {
    for (const auto& each : roles_) {
        const auto own = metadata_text(each, "namespace");
        if (metadata_text(each, "name") == role && (own.empty() || own == namespace_))
            grant(each, namespace_);
    }
}

void Rights::grant(const json::object& role, const std::string& namespace_) {
    for (const auto& entry : role.at("rules").as_array()) {
        const auto& rule = entry.as_object();
        auto names = texts(rule, "resourceNames");
        if (names.empty()) names.emplace_back();
        for (const auto& verb : texts(rule, "verbs"))
            for (const auto& group : texts(rule, "apiGroups"))
                for (const auto& resource : texts(rule, "resources"))
                    for (const auto& name : names) granted_.insert({verb, group, resource, namespace_, name});
    }
}

bool Rights::allow(const Right& asked) const {
    auto covers = [this](Right right) {
        if (granted_.contains(right)) return true;
        right.name.clear();
        return granted_.contains(right);
    };
    auto everywhere = asked;
    everywhere.namespace_.clear();
    return covers(asked) || covers(everywhere);
}

std::vector<Right> needed_rights(const base::HttpRequest& request, const Store& store) {
    const auto target = parse_target(request.target);
    // Every authenticated user may ask about its own rights (ClusterRole system:basic-user).
    if (!target || target->resource.starts_with("selfsubject")) return {};
    std::vector<Right> needed{
        {verb_of(request, *target), target->group, resource_of(*target), target->namespace_, target->name}};
    // An apply request creates an object that does not exist.
    const bool is_applied =
        request.headers.find("Content-Type").value_or("").starts_with("application/apply-patch");
    if (is_applied && !store.find({target->resource, target->namespace_, target->name})) {
        needed.push_back(needed.front());
        needed.back().verb = "create";
    }
    // The admission policy of config/admission demands our own verb in all namespaces from each writer of a
    // status.
    if (target->group == kOurGroup && target->subresource == "status")
        needed.push_back({"operate", kOurGroup, "nodesmithclaims", "", ""});
    // The admission plugin CertificateApproval demands a right on the signer.
    if (target->subresource == "approval") {
        const auto found = store.find({target->resource, "", target->name});
        const auto signer = found ? text_at(found->object(), {"spec", "signerName"}) : std::nullopt;
        if (signer) needed.push_back({"approve", target->group, "signers", "", *signer});
    }
    // Some distributions turn on the admission plugin OwnerReferencesPermissionEnforcement.
    if (request.method == "POST" && target->resource == "nodesmithclaims." + kOurGroup &&
        blocks_its_owner(json::parse(request.body).as_object()))
        needed.push_back({"update", kOurGroup, "nodesmithpools/finalizers", target->namespace_, ""});
    return needed;
}

}  // namespace fake

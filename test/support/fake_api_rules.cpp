#include "test/support/fake_api_rules.hpp"

#include <algorithm>
#include <cctype>
#include <regex>

#include "test/support/fake_api_server.hpp"

namespace fake {
namespace {

json::object details_of(const Key& key) {
    auto dot = key.resource.find('.');
    json::object details{{"name", key.name}, {"kind", key.resource.substr(0, dot)}};
    if (dot != std::string::npos) details["group"] = key.resource.substr(dot + 1);
    return details;
}

Refusal about(const Key& key, int code, const std::string& reason, const std::string& message) {
    Refusal refusal(code, reason, message);
    refusal.details = details_of(key);
    return refusal;
}

// Splits a selector into its requirements. The set of a requirement may hold commas.
std::vector<std::string> requirements_of(const std::string& selector) {
    static const std::regex pattern("[^,(]+(\\([^)]*\\))?");
    std::vector<std::string> parts;
    for (std::sregex_iterator at(selector.begin(), selector.end(), pattern), end; at != end; ++at) {
        parts.push_back(at->str());
    }
    return parts;
}

bool is_label_requirement(const std::string& text) {
    static const std::string kKey = "\\s*[A-Za-z0-9][-A-Za-z0-9_./]*\\s*", kValue = "\\s*[-A-Za-z0-9_.]*\\s*";
    static const std::regex pattern(kKey + "((=|==|!=)" + kValue + ")?|\\s*!" + kKey + "|" + kKey +
                                    "(in|notin)\\s*\\(" + kValue + "(," + kValue + ")*\\)\\s*");
    return std::regex_match(text, pattern);
}

// Returns the resource of the owner, or "" for a kind that this server does not serve. The function assumes
// that plurals of custom resources are regular.
std::string resource_of(const json::object& owner) {
    auto version = text_at(owner, {"apiVersion"}).value_or("");
    auto kind = text_at(owner, {"kind"}).value_or("");
    if (const auto* builtin = find_builtin_kind(version, kind)) return builtin->resource;
    auto group = version.substr(0, version.find('/'));
    if (group == version || is_builtin_group(group)) return {};
    std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return std::tolower(c); });
    return kind + "s." + group;
}

bool is_missing(const Store& store, const json::object& owner) {
    auto resource = resource_of(owner);
    if (resource.empty()) return false;
    auto uid = text_at(owner, {"uid"}).value_or("");
    return std::ranges::none_of(store.list(resource, ""), [&uid](const Snapshot& object) {
        return metadata_text(object->object(), "uid") == uid;
    });
}

}  // namespace

Refusal not_found(const Key& key) {
    return about(key, 404, "NotFound", key.resource + " \"" + key.name + "\" not found");
}

Refusal already_exists(const Key& key) {
    return about(key, 409, "AlreadyExists", key.resource + " \"" + key.name + "\" already exists");
}

Refusal conflict(const Key& key, const std::string& why) {
    return about(key, 409, "Conflict",
                 "Operation cannot be fulfilled on " + key.resource + " \"" + key.name + "\": " + why);
}

Refusal invalid(const Key& key, const std::string& why) {
    return about(key, 422, "Invalid", key.resource + " \"" + key.name + "\" is invalid: " + why);
}

DeleteRequest delete_request(const json::object& options) {
    DeleteRequest request;
    if (const auto* grace = options.if_contains("gracePeriodSeconds")) {
        request.grace_seconds = grace->to_number<std::int64_t>();
    }
    request.uid = text_at(options, {"preconditions", "uid"}).value_or("");
    request.resource_version = text_at(options, {"preconditions", "resourceVersion"}).value_or("");
    request.orphan = text_at(options, {"propagationPolicy"}) == "Orphan";
    return request;
}

void check_preconditions(const Key& key, const json::object& object, const DeleteRequest& request) {
    auto check = [&](const std::string& wanted, const char* field, const char* what) {
        auto found = metadata_text(object, field);
        if (wanted.empty() || wanted == found) return;
        throw conflict(key, std::string("the ") + what + " in the precondition (" + wanted +
                                ") does not match the " + what + " in record (" + found + ")");
    };
    check(request.uid, "uid", "UID");
    check(request.resource_version, "resourceVersion", "ResourceVersion");
}

ResourceKind kind_of(const Target& target, const std::vector<api::Resource>& custom) {
    if (const auto* builtin = find_builtin(target.resource)) return *builtin;
    auto found = std::ranges::find_if(custom, [&target](const api::Resource& resource) {
        return target.resource == ApiServer::resource_name(resource);
    });
    bool served = found != custom.end() || (custom.empty() && !is_builtin_group(target.group));
    if (!served) throw Refusal(404, "NotFound", "the server could not find the requested resource");
    ResourceKind kind{target.resource, "", true, true, {}};
    if (found != custom.end()) kind.kind = found->kind;
    return kind;
}

Selector selector_of(const Target& target, const ResourceKind& kind) {
    auto labels = target.get("labelSelector"), fields = target.get("fieldSelector");
    for (const auto& requirement : requirements_of(labels)) {
        if (!is_label_requirement(requirement)) {
            throw Refusal(400, "BadRequest", "unable to parse requirement: " + requirement);
        }
    }
    auto known = kind.selectable_fields;
    known.insert(known.end(), {"metadata.name", "metadata.namespace"});
    for (const auto& requirement : requirements_of(fields)) {
        auto field = requirement.substr(0, requirement.find_first_of("=!"));
        if (std::ranges::find(known, field) == known.end()) {
            throw Refusal(400, "BadRequest", "field label not supported: " + field);
        }
    }
    return Selector(labels, fields);
}

void collect(Store& store, const Key& key) {
    const auto object = store.find(key);
    const auto* owners =
        object ? object->object().at("metadata").as_object().if_contains("ownerReferences") : nullptr;
    if (!owners || !owners->is_array()) return;
    json::array present;
    for (const auto& owner : owners->get_array()) {
        if (!is_missing(store, owner.as_object())) present.push_back(owner);
    }
    if (present.size() == owners->get_array().size()) return;
    if (present.empty()) {
        store.remove(key, {});
        return;
    }
    store.update(
        key, [&present](json::object& changed) { member(changed, "metadata")["ownerReferences"] = present; });
}

}  // namespace fake

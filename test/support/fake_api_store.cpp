#include "test/support/fake_api_store.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <cstdio>

#include "api/time.hpp"
#include "test/support/fake_api_target.hpp"

namespace fake {
namespace {

constexpr std::size_t kHistory = 100'000;

bool has_finalizers(const json::object& object) {
    const auto* metadata = object.at("metadata").if_object();
    const auto* finalizers = metadata->if_contains("finalizers");
    return finalizers && finalizers->is_array() && !finalizers->get_array().empty();
}

bool adds_finalizer(const json::object& before, const json::object& after) {
    const auto* added = after.at("metadata").get_object().if_contains("finalizers");
    if (!added || !added->is_array()) return false;
    const auto* old = before.at("metadata").get_object().if_contains("finalizers");
    return std::any_of(added->get_array().begin(), added->get_array().end(),
                       [old](const json::value& finalizer) {
                           return !old || !old->is_array() ||
                                  std::find(old->get_array().begin(), old->get_array().end(), finalizer) ==
                                      old->get_array().end();
                       });
}

bool is_deleting(const json::object& object) {
    return object.at("metadata").get_object().contains("deletionTimestamp");
}

std::string not_found_message(const Key& key) {
    return key.resource + " \"" + key.name + "\" not found";
}

Refusal not_found(const Key& key) {
    return {404, "NotFound", not_found_message(key)};
}

Refusal conflict(const Key& key, const std::string& why) {
    return {409, "Conflict",
            "Operation cannot be fulfilled on " + key.resource + " \"" + key.name + "\": " + why};
}

// A server keeps these whatever a client sends.
void keep_identity(const json::object& before, json::object& after) {
    auto& metadata = member(after, "metadata");
    const auto& old = before.at("metadata").get_object();
    for (const char* field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp",
                              "generation", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
        if (const auto* value = old.if_contains(field)) {
            metadata[field] = *value;
        } else {
            metadata.erase(field);
        }
    }
}

bool spec_changed(const json::object& before, const json::object& after) {
    const auto* a = before.if_contains("spec");
    const auto* b = after.if_contains("spec");
    return (a && b) ? *a != *b : a != b;
}

// A pod that runs on a node ends when its kubelet says so.
bool ends_gracefully(const Key& key, const json::object& object, const DeleteRequest& request) {
    if (key.resource != "pods" || text_at(object, {"spec", "nodeName"}).value_or("").empty()) return false;
    auto phase = text_at(object, {"status", "phase"}).value_or("");
    if (phase == "Succeeded" || phase == "Failed") return false;
    return request.grace_seconds.value_or(30) > 0;
}

std::int64_t grace_of(const json::object& object, const DeleteRequest& request) {
    if (request.grace_seconds) return *request.grace_seconds;
    auto own = text_at(object, {"spec", "terminationGracePeriodSeconds"});
    return own ? std::stoll(*own) : 30;
}

}  // namespace

json::object& member(json::object& parent, std::string_view name) {
    auto& value = parent[name];
    if (!value.is_object()) value = json::object{};
    return value.get_object();
}

std::string metadata_text(const json::object& object, std::string_view field) {
    return text_at(object, {"metadata", std::string(field)}).value_or("");
}

std::string Store::now() const {
    return api::Time(clock_.wall_now()).str();
}

const json::object* Store::find(const Key& key) const {
    auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : &found->second;
}

std::vector<const json::object*> Store::list(const std::string& resource,
                                             const std::string& namespace_) const {
    std::vector<const json::object*> found;
    for (auto at = objects_.lower_bound({resource, "", ""}); at != objects_.end(); ++at) {
        if (at->first.resource != resource) break;
        if (namespace_.empty() || at->first.namespace_ == namespace_) found.push_back(&at->second);
    }
    return found;
}

json::object Store::create(Key key, json::object object) {
    auto& metadata = member(object, "metadata");
    if (key.name.empty()) {
        char suffix[8];
        std::snprintf(suffix, sizeof suffix, "%05llx",
                      static_cast<unsigned long long>(++names_ * 7919 % 0xfffff));
        key.name = metadata_text(object, "generateName") + suffix;
    }
    if (find(key)) throw Refusal(409, "AlreadyExists", key.resource + " \"" + key.name + "\" already exists");
    char uid[40];
    std::snprintf(uid, sizeof uid, "00000000-0000-4000-8000-%012llx",
                  static_cast<unsigned long long>(++uids_));
    metadata["name"] = key.name;
    if (!key.namespace_.empty()) metadata["namespace"] = key.namespace_;
    metadata["uid"] = uid;
    metadata["creationTimestamp"] = now();
    metadata["generation"] = 1;
    metadata.erase("deletionTimestamp");
    commit(key, std::nullopt, std::move(object));
    return objects_.at(key);
}

json::object Store::update(const Key& key, const std::function<void(json::object&)>& mutate) {
    const auto* current = find(key);
    if (!current) throw not_found(key);
    auto before = *current;
    auto after = before;
    mutate(after);
    auto wanted = metadata_text(after, "resourceVersion");
    if (!wanted.empty() && wanted != metadata_text(before, "resourceVersion")) {
        throw conflict(
            key,
            "the object has been modified; please apply your changes to the latest version and try again");
    }
    if (metadata_text(after, "uid") != metadata_text(before, "uid")) {
        throw conflict(key, "Precondition failed: UID in precondition does not match the UID in object meta");
    }
    keep_identity(before, after);
    if (after == before) return before;
    if (is_deleting(before) && adds_finalizer(before, after)) {
        throw Refusal(422, "Invalid",
                      key.resource + " \"" + key.name +
                          "\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be "
                          "added if the object is being deleted");
    }
    if (spec_changed(before, after)) {
        auto& generation = after.at("metadata").get_object()["generation"];
        generation = generation.to_number<std::int64_t>() + 1;
    }
    bool ends = is_deleting(after) && !has_finalizers(after) && key.resource != "pods";
    commit(key, std::move(before), std::move(after));
    auto result = objects_.at(key);
    if (ends) erase(key, false);
    return result;
}

std::optional<json::object> Store::remove(const Key& key, const DeleteRequest& request) {
    const auto* found = find(key);
    if (!found) throw not_found(key);
    auto before = *found;
    if (!request.uid.empty() && request.uid != metadata_text(before, "uid")) {
        throw conflict(key, "Precondition failed: UID in precondition: " + request.uid +
                                ", UID in object meta: " + metadata_text(before, "uid"));
    }
    if (!request.resource_version.empty() &&
        request.resource_version != metadata_text(before, "resourceVersion")) {
        throw conflict(key, "Precondition failed: ResourceVersion in precondition does not match");
    }
    bool graceful = ends_gracefully(key, before, request);
    if (!graceful && !has_finalizers(before)) {
        erase(key, request.orphan);
        return std::nullopt;
    }
    if (is_deleting(before)) return before;
    auto after = before;
    auto& metadata = member(after, "metadata");
    auto grace = graceful ? grace_of(before, request) : 0;
    metadata["deletionTimestamp"] = api::Time(clock_.wall_now() + std::chrono::seconds{grace}).str();
    metadata["deletionGracePeriodSeconds"] = grace;
    metadata["generation"] = metadata.at("generation").to_number<std::int64_t>() + 1;
    commit(key, std::move(before), std::move(after));
    return objects_.at(key);
}

void Store::commit(const Key& key, std::optional<json::object> before, std::optional<json::object> after) {
    ++version_;
    Change change{version_, key, std::move(before), std::nullopt, {}};
    if (after) {
        member(*after, "metadata")["resourceVersion"] = std::to_string(version_);
        objects_[key] = *after;
        change.last = *after;
        change.after = std::move(after);
    } else {
        change.last = objects_.at(key);
        member(change.last, "metadata")["resourceVersion"] = std::to_string(version_);
        objects_.erase(key);
    }
    history_.push_back(change);
    if (history_.size() > kHistory) compact(history_.front().version);
    if (listener_) listener_(change);
}

void Store::erase(const Key& key, bool orphan_dependents) {
    auto last = objects_.at(key);
    commit(key, last, std::nullopt);
    collect_dependents(metadata_text(last, "uid"), orphan_dependents);
}

// What the garbage collector does in the background: an object whose last owner is gone is deleted.
void Store::collect_dependents(const std::string& owner_uid, bool orphan) {
    std::vector<std::pair<Key, json::array>> dependents;
    for (const auto& [key, object] : objects_) {
        const auto* owners = object.at("metadata").get_object().if_contains("ownerReferences");
        if (!owners || !owners->is_array()) continue;
        json::array others;
        for (const auto& owner : owners->get_array()) {
            if (owner.at("uid").as_string() != owner_uid) others.push_back(owner);
        }
        if (others.size() < owners->get_array().size()) dependents.emplace_back(key, std::move(others));
    }
    for (auto& [key, others] : dependents) {
        if (!find(key)) continue;
        if (others.empty() && !orphan) {
            remove(key, {});
        } else {
            update(key, [&others](json::object& object) {
                member(object, "metadata")["ownerReferences"] = others;
            });
        }
    }
}

void Store::compact(std::uint64_t version) {
    while (!history_.empty() && history_.front().version <= version) history_.pop_front();
    compacted_ = std::max(compacted_, version);
}

}  // namespace fake

#include "test/support/fake_api_store.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstdio>
#include <utility>

#include "api/time.hpp"
#include "test/support/fake_api_rules.hpp"
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

// Keeps the fields that the server preserves whatever a client sends.
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

// Returns how many seconds the object may take to end. Pods on a node end when their kubelet says so; every
// other object ends immediately.
std::int64_t grace_of(const Key& key, const json::object& object, const DeleteRequest& request) {
    if (key.resource != "pods" || text_at(object, {"spec", "nodeName"}).value_or("").empty()) return 0;
    auto phase = text_at(object, {"status", "phase"}).value_or("");
    if (phase == "Succeeded" || phase == "Failed") return 0;
    if (request.grace_seconds) return *request.grace_seconds;
    auto own = text_at(object, {"spec", "terminationGracePeriodSeconds"});
    return own ? std::stoll(*own) : 30;
}

// Reports whether the server counts generations of the kind; it does so for every custom resource.
bool counts_generations(const Key& key) {
    const auto* builtin = find_builtin(key.resource);
    return !builtin || builtin->has_generation;
}

void count_generation(json::object& object) {
    auto& metadata = member(object, "metadata");
    if (auto* generation = metadata.if_contains("generation"))
        *generation = generation->to_number<std::int64_t>() + 1;
}

void set_owners(json::object& object, const json::array& owners) {
    auto& metadata = member(object, "metadata");
    metadata["ownerReferences"] = owners;
    if (owners.empty()) metadata.erase("ownerReferences");
}

const json::array* owners_of(const json::object& object) {
    const auto* owners = object.at("metadata").get_object().if_contains("ownerReferences");
    return owners ? owners->if_array() : nullptr;
}

}  // namespace

json::object& member(json::object& parent, std::string_view name) {
    auto& value = parent[name];
    if (!value.is_object()) value = json::object{};
    return value.get_object();
}

std::string metadata_text(const json::object& object, std::string_view field) {
    return text_at(object, {"metadata", field}).value_or("");
}

const std::string& Document::text() const {
    if (text_.empty()) text_ = json::serialize(value_);
    return text_;
}

std::string Store::now() const {
    return api::Time(clock_.wall_now()).str();
}

Snapshot Store::find(const Key& key) const {
    auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
}

std::vector<Snapshot> Store::list(const std::string& resource, const std::string& namespace_) const {
    std::vector<Snapshot> found;
    for (auto at = objects_.lower_bound({resource, "", ""}); at != objects_.end(); ++at) {
        if (at->first.resource != resource) break;
        if (namespace_.empty() || at->first.namespace_ == namespace_) found.push_back(at->second);
    }
    return found;
}

Snapshot Store::create(Key key, json::object object) {
    auto& metadata = member(object, "metadata");
    if (key.name.empty()) {
        char suffix[8];
        std::snprintf(suffix, sizeof suffix, "%05llx",
                      static_cast<unsigned long long>(++names_ * 7919 % 0xfffff));
        key.name = metadata_text(object, "generateName") + suffix;
    }
    if (find(key)) throw already_exists(key);
    char uid[40];
    std::snprintf(uid, sizeof uid, "00000000-0000-4000-8000-%012llx",
                  static_cast<unsigned long long>(++uids_));
    metadata["name"] = key.name;
    if (!key.namespace_.empty()) metadata["namespace"] = key.namespace_;
    metadata["uid"] = uid;
    metadata["creationTimestamp"] = now();
    metadata.erase("generation");
    if (counts_generations(key)) metadata["generation"] = 1;
    metadata.erase("deletionTimestamp");
    metadata.erase("deletionGracePeriodSeconds");
    put(key, nullptr, std::move(object));
    return objects_.at(key);
}

Snapshot Store::update(const Key& key, const std::function<void(json::object&)>& mutate) {
    const auto current = find(key);
    if (!current) throw not_found(key);
    const auto& before = current->object();
    auto after = before;
    mutate(after);
    auto wanted = metadata_text(after, "resourceVersion");
    if (!wanted.empty() && wanted != metadata_text(before, "resourceVersion")) {
        throw conflict(
            key,
            "the object has been modified; please apply your changes to the latest version and try again");
    }
    if (metadata_text(after, "uid") != metadata_text(before, "uid")) {
        throw invalid(
            key, "metadata.uid: Invalid value: \"" + metadata_text(after, "uid") + "\": field is immutable");
    }
    keep_identity(before, after);
    if (after == before) return current;
    if (is_deleting(before) && adds_finalizer(before, after)) {
        throw invalid(key,
                      "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
                      "deleted");
    }
    if (spec_changed(before, after)) count_generation(after);
    bool ends = is_deleting(after) && !has_finalizers(after) &&
                text_at(after, {"metadata", "deletionGracePeriodSeconds"}) == "0";
    if (ends) {
        auto last = std::make_shared<const Document>(std::move(after));
        objects_[key] = last;
        erase(key, false);
        return last;
    }
    put(key, current, std::move(after));
    return objects_.at(key);
}

Snapshot Store::remove(const Key& key, const DeleteRequest& request) {
    const auto current = find(key);
    if (!current) throw not_found(key);
    const auto& before = current->object();
    check_preconditions(key, before, request);
    auto grace = grace_of(key, before, request);
    // The API server multiplies in 64-bit nanoseconds, and a value that does not fit wraps around. A grace
    // period of 317 years therefore ends in 1758. Source: k8s.io/apiserver/pkg/registry/rest (delete.go,
    // BeforeDelete).
    constexpr std::uint64_t kNanoseconds = 1'000'000'000;
    const std::chrono::nanoseconds wrapped(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(grace) * kNanoseconds));
    base::WallTime end = clock_.wall_now() + wrapped;
    if (is_deleting(before)) {
        // A second deletion may only shorten the granted grace period.
        auto granted = std::stoll(metadata_text(before, "deletionGracePeriodSeconds"));
        grace = request.grace_seconds.value_or(granted);
        if (grace >= granted) return current;
        auto begin =
            api::Time::parse(metadata_text(before, "deletionTimestamp")).at - std::chrono::seconds{granted};
        end = std::max<base::WallTime>(clock_.wall_now(), begin + std::chrono::seconds{grace});
    }
    if (grace == 0 && !has_finalizers(before)) {
        erase(key, request.orphan);
        return nullptr;
    }
    auto after = before;
    auto& metadata = member(after, "metadata");
    if (!is_deleting(before)) count_generation(after);
    metadata["deletionTimestamp"] = api::Time(end).str();
    metadata["deletionGracePeriodSeconds"] = grace;
    if (after == before) return current;
    put(key, current, std::move(after));
    return objects_.at(key);
}

void Store::put(const Key& key, Snapshot before, json::object after) {
    member(after, "metadata")["resourceVersion"] = std::to_string(++version_);
    auto stored = std::make_shared<const Document>(std::move(after));
    objects_[key] = stored;
    publish({version_, key, std::move(before), stored, stored});
}

void Store::erase(const Key& key, bool orphan_dependents) {
    auto before = objects_.at(key);
    auto last = before->object();
    member(last, "metadata")["resourceVersion"] = std::to_string(++version_);
    objects_.erase(key);
    publish({version_, key, before, nullptr, std::make_shared<const Document>(std::move(last))});
    collect_dependents(metadata_text(before->object(), "uid"), orphan_dependents);
}

void Store::publish(Change change) {
    history_.push_back(change);
    if (history_.size() > kHistory) compact(history_.front().version);
    if (listener_) listener_(change);
}

// Does the background work of the garbage collector: it deletes an object whose last owner is gone.
void Store::collect_dependents(const std::string& owner_uid, bool orphan) {
    std::vector<std::pair<Key, json::array>> dependents;
    for (const auto& [key, object] : objects_) {
        const auto* owners = owners_of(object->object());
        if (!owners) continue;
        json::array others;
        for (const auto& owner : *owners) {
            if (owner.at("uid").as_string() != owner_uid) others.push_back(owner);
        }
        if (others.size() < owners->size()) dependents.emplace_back(key, std::move(others));
    }
    for (auto& [key, others] : dependents) {
        if (!find(key)) continue;
        if (others.empty() && !orphan) {
            remove(key, {});
        } else {
            update(key, [&others](json::object& object) { set_owners(object, others); });
        }
    }
}

void Store::restore(const Backup& backup) {
    const auto before = std::exchange(objects_, backup.objects);
    version_ = backup.version;
    while (!history_.empty() && history_.back().version > version_) history_.pop_back();
    compacted_ = std::min(compacted_, version_);
    if (!listener_) return;
    for (const auto& [key, object] : before)
        if (!backup.objects.contains(key)) listener_({version_, key, object, nullptr, object});
    for (const auto& [key, object] : backup.objects) {
        const auto known = before.find(key);
        const auto was = known == before.end() ? nullptr : known->second;
        if (was != object) listener_({version_, key, was, object, object});
    }
}

void Store::compact(std::uint64_t version) {
    while (!history_.empty() && history_.front().version <= version) history_.pop_front();
    compacted_ = std::max(compacted_, version);
}

}  // namespace fake

// The objects of the in-memory Kubernetes API and their rules: resourceVersions, generations, finalizers,
// graceful deletion of pods, owner references. Knows no HTTP; objects are JSON, of any kind.
#pragma once
#include <boost/json/object.hpp>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace fake {

namespace json = boost::json;

// What a server answers instead of doing it (metav1.Status).
struct Refusal : std::runtime_error {
    Refusal(int status_code, std::string status_reason, const std::string& message)
        : std::runtime_error(message), code(status_code), reason(std::move(status_reason)) {}
    int code;
    std::string reason;
    json::object details;
};

struct Key {
    std::string resource;  // "pods", "nodesmithclaims.kubenodesmith.parawell.cloud"
    std::string namespace_;
    std::string name;
    auto operator<=>(const Key&) const = default;
};

struct Change {
    std::uint64_t version = 0;
    Key key;
    std::optional<json::object> before;  // none: added
    std::optional<json::object> after;   // none: deleted; `last` is then its last state
    json::object last;
};

struct DeleteRequest {
    std::optional<std::int64_t> grace_seconds;
    std::string uid;
    std::string resource_version;
    bool orphan = false;
};

class Store {
public:
    explicit Store(base::Clock& clock) : clock_(clock) {}

    const json::object* find(const Key& key) const;
    // In key order; namespace_ "" = all.
    std::vector<const json::object*> list(const std::string& resource, const std::string& namespace_) const;
    // These throw Refusal and return the object as stored.
    json::object create(Key key, json::object object);
    // `mutate` changes a copy. A change of `/spec` counts as a new generation; no change writes nothing.
    json::object update(const Key& key, const std::function<void(json::object&)>& mutate);
    // nullopt: gone; otherwise it is being deleted.
    std::optional<json::object> remove(const Key& key, const DeleteRequest& request);

    std::uint64_t version() const { return version_; }
    const std::deque<Change>& history() const { return history_; }
    // Forgets history up to and including `version`: watches from there get 410.
    void compact(std::uint64_t version);
    std::uint64_t compacted() const { return compacted_; }
    void on_change(std::function<void(const Change&)> listener) { listener_ = std::move(listener); }
    std::string now() const;  // RFC 3339

private:
    void commit(const Key& key, std::optional<json::object> before, std::optional<json::object> after);
    void erase(const Key& key, bool orphan_dependents);
    void collect_dependents(const std::string& owner_uid, bool orphan);

    base::Clock& clock_;
    std::map<Key, json::object> objects_;
    std::deque<Change> history_;
    std::uint64_t version_ = 100;
    std::uint64_t compacted_ = 0;
    std::uint64_t uids_ = 0;
    std::uint64_t names_ = 0;
    std::function<void(const Change&)> listener_;
};

// The member as an object, made if it is not there.
json::object& member(json::object& parent, std::string_view name);
std::string metadata_text(const json::object& object, std::string_view field);

}  // namespace fake

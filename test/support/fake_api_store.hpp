// The objects of the in-memory Kubernetes API and their rules: resourceVersions, generations, finalizers,
// graceful deletion of pods, owner references. The store knows no HTTP. Its objects are JSON of any kind.
#pragma once
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace fake {

namespace json = boost::json;

// Refusal is the server's error answer (metav1.Status) to a request that it does not execute.
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

// Document is one version of an object and never changes.
class Document {
public:
    explicit Document(json::object object) : value_(std::move(object)) {}

    const json::value& value() const { return value_; }
    const json::object& object() const { return value_.get_object(); }
    // Returns the document as JSON, which is built once.
    const std::string& text() const;

private:
    json::value value_;
    mutable std::string text_;
};
using Snapshot = std::shared_ptr<const Document>;

struct Change {
    std::uint64_t version = 0;
    Key key;
    Snapshot before;  // null: added
    Snapshot after;   // null: deleted; `last` then holds its last state
    Snapshot last;
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

    // Returns null if the object does not exist.
    Snapshot find(const Key& key) const;
    // Lists objects in the order of their keys; an empty namespace_ means all namespaces.
    std::vector<Snapshot> list(const std::string& resource, const std::string& namespace_) const;
    // These functions throw Refusal, and return the object as stored.
    Snapshot create(Key key, json::object object);
    // Applies `mutate` to a copy and stores it. A change of `/spec` counts as a new generation. If nothing
    // changes, nothing is written.
    Snapshot update(const Key& key, const std::function<void(json::object&)>& mutate);
    // Returns null if the object is gone; otherwise the object is being deleted.
    Snapshot remove(const Key& key, const DeleteRequest& request);

    std::uint64_t version() const { return version_; }
    const std::deque<Change>& history() const { return history_; }
    // Forgets the history up to and including `version`; a watch from such a version gets 410.
    void compact(std::uint64_t version);
    std::uint64_t compacted() const { return compacted_; }
    // Backup holds every stored object and the version of the store.
    struct Backup {
        std::map<Key, Snapshot> objects;
        std::uint64_t version = 0;
    };
    Backup back_up() const { return {objects_, version_}; }
    // Brings back the objects of the backup, at their old versions. The listener gets the differences as
    // changes; watches do not.
    void restore(const Backup& backup);
    void on_change(std::function<void(const Change&)> listener) { listener_ = std::move(listener); }
    std::string now() const;  // in the format of RFC 3339

private:
    // Stores `after` as `key`. `before` is the version that it replaces.
    void put(const Key& key, Snapshot before, json::object after);
    void publish(Change change);
    void erase(const Key& key, bool orphan_dependents);
    void collect_dependents(const std::string& owner_uid, bool orphan);

    base::Clock& clock_;
    std::map<Key, Snapshot> objects_;
    std::deque<Change> history_;
    std::uint64_t version_ = 100;
    std::uint64_t compacted_ = 0;
    std::uint64_t uids_ = 0;
    std::uint64_t names_ = 0;
    std::function<void(const Change&)> listener_;
};

// Returns the member as an object and creates it if it is missing.
json::object& member(json::object& parent, std::string_view name);
std::string metadata_text(const json::object& object, std::string_view field);

}  // namespace fake

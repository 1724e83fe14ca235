// The objects of the in-memory Kubernetes API and their rules: resourceVersions, generations, finalizers,
// graceful deletion of pods, owner references. Knows no HTTP; objects are JSON, of any kind.
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

// One version of an object, which never changes.
class Document {
public:
    explicit Document(json::object object) : value_(std::move(object)) {}

    const json::value& value() const { return value_; }
    const json::object& object() const { return value_.get_object(); }
    // As JSON; made once.
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
    Snapshot after;   // null: deleted; `last` is then its last state
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

    // Null: not there.
    Snapshot find(const Key& key) const;
    // In key order; namespace_ "" = all.
    std::vector<Snapshot> list(const std::string& resource, const std::string& namespace_) const;
    // These throw Refusal and return the object as stored.
    Snapshot create(Key key, json::object object);
    // `mutate` changes a copy. A change of `/spec` counts as a new generation; no change writes nothing.
    Snapshot update(const Key& key, const std::function<void(json::object&)>& mutate);
    // Null: gone; otherwise it is being deleted.
    Snapshot remove(const Key& key, const DeleteRequest& request);

    std::uint64_t version() const { return version_; }
    const std::deque<Change>& history() const { return history_; }
    // Forgets history up to and including `version`: watches from there get 410.
    void compact(std::uint64_t version);
    std::uint64_t compacted() const { return compacted_; }
    // Everything that is stored now.
    struct Backup {
        std::map<Key, Snapshot> objects;
        std::uint64_t version = 0;
    };
    Backup back_up() const { return {objects_, version_}; }
    // What was there at the backup is there again, at the versions of then. Who listens learns the
    // differences as changes; no watch does.
    void restore(const Backup& backup);
    void on_change(std::function<void(const Change&)> listener) { listener_ = std::move(listener); }
    std::string now() const;  // RFC 3339

private:
    // What is written down as `key`; what was there before is `before`.
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

// The member as an object, made if it is not there.
json::object& member(json::object& parent, std::string_view name);
std::string metadata_text(const json::object& object, std::string_view field);

}  // namespace fake

// UndecodableObjects are existing objects of one kind that cannot be decoded. A gauge counts them, and each
// is reported once in the log and in an Event.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/meta.hpp"
#include "base/metrics.hpp"
#include "kube/event_recorder.hpp"

namespace kube {

// Places are the names of nodes that an undecodable object concerns: for example the node of a pod. nullopt:
// it may concern any node.
using Places = std::optional<std::vector<std::string>>;

class UndecodableObjects {
public:
    UndecodableObjects(base::MetricsRegistry& metrics, api::Resource resource);

    // Adds an object. `error` has no values, but may have keys that others chose, so only its beginning is
    // kept.
    void add(const api::ObjectKey& key, const std::string& uid, std::string error,
             Places places = std::vector<std::string>());
    // Removes an object that can be decoded again or is gone.
    void remove(const api::ObjectKey& key);
    // Removes all objects for which `is_kept` returns false.
    template <class Predicate>
    void keep_if(Predicate is_kept) {
        for (auto next = objects_.begin(); next != objects_.end();) {
            const auto key = (next++)->first;
            if (!is_kept(key)) remove(key);
        }
    }

    bool contains(const api::ObjectKey& key) const { return objects_.contains(key); }
    // Returns an object on the node.
    std::optional<api::ObjectKey> any_on(const std::string& node) const;
    // Returns the objects that may concern one of these places.
    std::vector<api::ObjectKey> all_at(const std::set<std::string>& places) const;
    bool empty() const { return objects_.empty(); }
    std::size_t size() const { return objects_.size(); }
    // Reports each later one, and those known now, in an Event. `events` must outlive this.
    void report_to(EventRecorder& events);

private:
    struct Object {
        std::string uid;
        std::string error;
        Places places;
    };
    void report(const api::ObjectKey& key, const Object& object);

    api::Resource resource_;
    base::Gauge& count_;
    std::map<api::ObjectKey, Object> objects_;
    EventRecorder* events_ = nullptr;
};

}  // namespace kube

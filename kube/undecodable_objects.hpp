// The objects of one kind that exist and cannot be decoded. They are counted by a gauge, and each is named
// once in the log and in an Event.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/meta.hpp"
#include "base/metrics.hpp"
#include "kube/event_recorder.hpp"

namespace kube {

class UndecodableObjects {
public:
    UndecodableObjects(base::MetricsRegistry& metrics, api::Resource resource);

    // `error` holds no values, but may hold keys that others chose: its beginning is kept. `node` is where it
    // is, if it is a pod that has a node.
    void add(const api::ObjectKey& key, const std::string& uid, std::string error, std::string node = {});
    // The object can be decoded again or is gone.
    void remove(const api::ObjectKey& key);
    // Removes all that `is_kept` returns false for.
    template <class Predicate>
    void keep_if(Predicate is_kept) {
        for (auto next = objects_.begin(); next != objects_.end();) {
            const auto key = (next++)->first;
            if (!is_kept(key)) remove(key);
        }
    }

    bool contains(const api::ObjectKey& key) const { return objects_.contains(key); }
    // Returns one that is on the node.
    std::optional<api::ObjectKey> any_on(const std::string& node) const;
    bool empty() const { return objects_.empty(); }
    std::size_t size() const { return objects_.size(); }
    // From now on each gets an Event; those that are known get theirs now. `events` must outlive this.
    void report_to(EventRecorder& events);

private:
    struct Object {
        std::string uid;
        std::string error;
        std::string node;
    };
    void report(const api::ObjectKey& key, const Object& object);

    api::Resource resource_;
    base::Gauge& count_;
    std::map<api::ObjectKey, Object> objects_;
    EventRecorder* events_ = nullptr;
};

}  // namespace kube

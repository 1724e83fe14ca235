// LargeObjects are objects of one kind that were cut, as others wrote more than api::most_of(). Each is
// reported once in the log and in an Event.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/meta.hpp"
#include "kube/event_recorder.hpp"

namespace kube {

class LargeObjects {
public:
    explicit LargeObjects(api::Resource resource) : resource_(resource) {}

    // `fields` are incomplete. If the list is empty, the object is complete again.
    void note(const api::ObjectMeta& metadata, const std::vector<std::string>& fields);
    void remove(const api::ObjectKey& key) { objects_.erase(key); }

    std::size_t size() const { return objects_.size(); }
    // Reports each later one, and those known now, in an Event. `events` must outlive this.
    void report_to(EventRecorder& events);

private:
    struct Object {
        std::string uid;
        std::string fields;
    };
    void report(const api::ObjectKey& key, const Object& object);

    api::Resource resource_;
    std::map<api::ObjectKey, Object> objects_;
    EventRecorder* events_ = nullptr;
};

}  // namespace kube

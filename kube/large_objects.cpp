#include "kube/large_objects.hpp"

#include "api/size.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace kube {

namespace {

// A flood of large objects must not cause a flood of log lines, Events and memory.
constexpr std::size_t kMostLargeNamed = 100;

}  // namespace

void LargeObjects::note(const api::ObjectMeta& metadata, const std::vector<std::string>& fields) {
    const api::ObjectKey key{metadata.namespace_, metadata.name};
    if (fields.empty()) return remove(key);
    const bool is_known = objects_.contains(key);
    if (!is_known && objects_.size() >= kMostLargeNamed) return;
    auto& object = objects_[key];
    const auto named = base::joined(fields, ", ");
    if (object.uid == metadata.uid && object.fields == named) return;
    object = {metadata.uid, named};
    base::log::warning("An object is too large to be kept in memory: a part of it is left out",
                       {{"resource", resource_.plural}, {"object", key.str()}, {"fields", named}});
    report(key, object);
}

void LargeObjects::report_to(EventRecorder& events) {
    events_ = &events;
    for (const auto& [key, object] : objects_) report(key, object);
}

void LargeObjects::report(const api::ObjectKey& key, const Object& object) {
    if (!events_) return;
    const EventTarget target{resource_.api_version(), std::string(resource_.kind), key.namespace_, key.name,
                             object.uid};
    events_->event(target, EventType::warning, "TooLarge",
                   "KubeNodeSmith keeps " + std::to_string(api::most_of(resource_) / 1024) +
                       " KiB of an object and ignores the rest of " + object.fields +
                       ": pods may be placed and nodes removed as if it were not there; make these fields "
                       "shorter");
}

}  // namespace kube

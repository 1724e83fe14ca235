#include "kube/undecodable_objects.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace kube {

namespace {

// Many odd objects usually have one cause. The gauge counts them all, but they must not cause a flood of log
// lines and Events.
constexpr std::size_t kMostNamed = 100;

}  // namespace

UndecodableObjects::UndecodableObjects(base::MetricsRegistry& metrics, api::Resource resource)
    : resource_(resource),
      count_(metrics
                 .gauge("kubenodesmith_undecodable_objects",
                        "Objects that exist and cannot be decoded, by resource", {"resource"})
                 .with({std::string(resource.plural)})) {
    count_.set(0);
}

void UndecodableObjects::add(const api::ObjectKey& key, const std::string& uid, std::string error,
                             Places places) {
    constexpr std::size_t kLongestError = 512;
    error.resize(std::min(error.size(), kLongestError));
    auto& object = objects_[key];
    count_.set(static_cast<double>(objects_.size()));
    const bool is_known = object.uid == uid && object.error == error;
    object = {uid, error, std::move(places)};
    if (is_known) return;
    if (objects_.size() > kMostNamed) return;
    base::log::warning(
        "An object cannot be decoded: its last readable version is kept, and nothing is removed because of "
        "it",
        {{"resource", resource_.plural}, {"object", key.str()}, {"error", error}});
    report(key, object);
}

std::optional<api::ObjectKey> UndecodableObjects::any_on(const std::string& node) const {
    auto all = all_at({node});
    return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}

std::vector<api::ObjectKey> UndecodableObjects::all_at(const std::set<std::string>& places) const {
    std::vector<api::ObjectKey> found;
    for (const auto& [key, object] : objects_) {
        const bool is_there = !object.places || std::ranges::any_of(*object.places, [&](const auto& place) {
            return places.contains(place);
        });
        if (is_there) found.push_back(key);
    }
    return found;
}

void UndecodableObjects::remove(const api::ObjectKey& key) {
    if (objects_.erase(key) == 0) return;
    count_.set(static_cast<double>(objects_.size()));
    base::log::info("An object that could not be decoded is readable again or gone",
                    {{"resource", resource_.plural}, {"object", key.str()}});
}

void UndecodableObjects::report_to(EventRecorder& events) {
    events_ = &events;
    std::size_t named = 0;
    for (const auto& [key, object] : objects_)
        if (named++ < kMostNamed) report(key, object);
}

void UndecodableObjects::report(const api::ObjectKey& key, const Object& object) {
    if (!events_) return;
    const EventTarget target{resource_.api_version(), std::string(resource_.kind), key.namespace_, key.name,
                             object.uid};
    events_->event(target, EventType::warning, "CannotBeDecoded",
                   "KubeNodeSmith cannot read this object, keeps using its last readable version and removes "
                   "nothing because of it: " +
                       object.error +
                       "; correct the field, or upgrade KubeNodeSmith if a newer version set it");
}

}  // namespace kube

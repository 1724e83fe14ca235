// Kubernetes Events about our objects. They are written in the background, once per changed reason or
// message, and counted when repeated. A failure to write an Event never fails the caller.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "api/meta.hpp"
#include "base/clock.hpp"
#include "base/interface.hpp"
#include "base/random.hpp"
#include "kube/client.hpp"

namespace kube {

struct EventTarget {
    std::string api_version;
    std::string kind;
    std::string namespace_;  // empty for a Node: its Events are in "default"
    std::string name;
    std::string uid;
};
template <api::Kind T>
EventTarget target_of(const T& object) {
    const auto& resource = T::kResource;
    std::string api_version(resource.group);
    if (!api_version.empty()) api_version += '/';
    api_version += resource.version;
    return {api_version, std::string(resource.kind), object.metadata.namespace_, object.metadata.name,
            object.metadata.uid};
}

enum class EventType { normal, warning };

class EventRecorder : public base::Interface {
public:
    // `reason` is one word in CamelCase; `message` is a sentence for people. Neither may contain a secret.
    virtual void event(const EventTarget& about, EventType type, std::string reason, std::string message) = 0;

    template <api::Kind T>
    void normal(const T& about, std::string reason, std::string message) {
        event(target_of(about), EventType::normal, std::move(reason), std::move(message));
    }
    template <api::Kind T>
    void warning(const T& about, std::string reason, std::string message) {
        event(target_of(about), EventType::warning, std::move(reason), std::move(message));
    }
};

// EventWriter writes recorded Events in run() until it is cancelled. flush() then tries the remaining ones
// once more.
class EventWriter : public EventRecorder {
public:
    virtual asio::awaitable<void> run() = 0;
    virtual asio::awaitable<void> flush() = 0;
};
std::unique_ptr<EventWriter> make_event_writer(Client& client, base::Clock& clock, base::Random& random,
                                               asio::any_io_executor executor, std::string component);

}  // namespace kube

// Kubernetes Events about our objects: written in the background, once per changed reason or message,
// counted when repeated; a failure to write one never fails the caller.
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
    std::string namespace_;  // empty for a Node: its Events live in "default"
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
    // reason: CamelCase, one word of why; message: a sentence for people. Never a secret.
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

// `run()` writes what was recorded until cancelled; what is left then is tried once more by flush().
class EventWriter : public EventRecorder {
public:
    virtual asio::awaitable<void> run() = 0;
    virtual asio::awaitable<void> flush() = 0;
};
std::unique_ptr<EventWriter> make_event_writer(Client& client, base::Clock& clock, base::Random& random,
                                               asio::any_io_executor executor, std::string component);

}  // namespace kube

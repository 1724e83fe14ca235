// Holds the shared services that every part acting on the cluster needs.
#pragma once

#include "base/metrics.hpp"
#include "controllers/cache/informers.hpp"
#include "kube/event_recorder.hpp"

namespace controllers {

struct Context {
    Informers& informers;
    kube::Client& client;
    base::Clock& clock;
    kube::EventRecorder& events;
    base::MetricsRegistry& metrics;
};

// InContext is a base class that gives access to the context's members.
class InContext {
protected:
    explicit InContext(const Context& context)
        : informers_(context.informers),
          client_(context.client),
          clock_(context.clock),
          events_(context.events) {}

    Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    kube::EventRecorder& events_;
};

}  // namespace controllers

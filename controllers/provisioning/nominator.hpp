// Nominates new machines' Nodes for pods: it writes status.nominatedNodeName of waiting pods, and nothing
// else. A failure does no harm, because the scheduler then chooses by itself.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "controllers/cache/context.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/provisioning/nomination.hpp"
#include "controllers/provisioning/promises.hpp"
#include "kube/controller.hpp"
#include "kube/watches.hpp"

namespace controllers::provisioning {

// The keys are pods.
class Nominator final : public kube::Reconciler, InContext {
public:
    // Must be called before the informers run.
    explicit Nominator(const Context& context);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    // Reports whether the API server's Kubernetes accepts nominations. It is asked again occasionally,
    // because the cluster may be upgraded while this process runs.
    asio::awaitable<bool> is_served();
    // Returns false if the API server denies the operator this write.
    asio::awaitable<bool> write(PodPointer pod, std::string node);
    kube::Keys waiting_pods_told_of(const std::string& node) const;

    Promises promises_;
    base::Family<base::Counter>& written_;
    struct Server {
        bool takes_nominations = false;
        base::TimePoint asked;
    };
    std::optional<Server> server_;
    base::TimePoint silent_until_{};    // set when the API server has refused
    std::map<std::string, Told> told_;  // by UID of the pod
};

}  // namespace controllers::provisioning

namespace controllers {
using provisioning::Nominator;
}

// Tells the scheduler which pods the new machines are for: writes status.nominatedNodeName of waiting pods,
// and nothing else of them. What fails is no harm: the scheduler then chooses by itself.
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

// Its keys are pods.
class Nominator final : public kube::Reconciler, InContext {
public:
    // Before the informers run.
    explicit Nominator(const Context& context);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    // The API server's Kubernetes takes nominations; asked anew now and then, for it is upgraded while this
    // process runs.
    asio::awaitable<bool> is_served();
    // False: the API server does not let the operator.
    asio::awaitable<bool> write(PodPointer pod, std::string node);
    kube::Keys waiting_pods_told_of(const std::string& node) const;

    Promises promises_;
    base::Family<base::Counter>& written_;
    struct Server {
        bool takes_nominations = false;
        base::TimePoint asked;
    };
    std::optional<Server> server_;
    base::TimePoint silent_until_{};    // the API server has refused
    std::map<std::string, Told> told_;  // by UID of the pod
};

}  // namespace controllers::provisioning

namespace controllers {
using provisioning::Nominator;
}

// Gives bare-metal backends access to their hosts, from the cache and the API server. Reserving a host writes
// its finalizer before its claimRef, so that no host disappears while a claim has it. Backends see values:
// this class makes their writes to NodeSmithHosts.
#pragma once

#include "controllers/cache/informers.hpp"
#include "kube/client.hpp"
#include "kube/event_recorder.hpp"
#include "providers/host_inventory.hpp"

namespace controllers {

class KubernetesHostInventory final : public providers::HostInventory {
public:
    // All arguments must outlive this object.
    KubernetesHostInventory(Informers& informers, kube::Client& client, base::Clock& clock,
                            kube::EventRecorder& events)
        : informers_(informers), client_(client), clock_(clock), events_(events) {}

    std::vector<providers::HostPointer> hosts(const std::string& namespace_,
                                              const std::string& provider) override;
    providers::HostPointer find(const std::string& namespace_, const std::string& provider,
                                const std::string& name) override;
    asio::awaitable<std::optional<providers::Host>> read(std::string namespace_, std::string name) override;
    asio::awaitable<std::optional<providers::Host>> write(providers::Host before, providers::HostUse use,
                                                          std::string message) override;
    void announce(const providers::Host& host, std::string reason, std::string message) override;
    asio::awaitable<bool> has_ready_node(providers::Host host) override;
    asio::awaitable<providers::SecretData> secret(std::string namespace_, std::string name) override;

private:
    using NodeSmithHost = api::v1alpha1::NodeSmithHost;
    asio::awaitable<std::optional<NodeSmithHost>> swap_status(NodeSmithHost before,
                                                              api::v1alpha1::HostStatus status);
    asio::awaitable<NodeSmithHost> with_finalizer(NodeSmithHost host);

    Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    kube::EventRecorder& events_;
};

}  // namespace controllers

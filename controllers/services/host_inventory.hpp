// The hosts of bare-metal backends, from the cache and the API server. Taking a host writes its finalizer
// before its claimRef, so that no host disappears while a claim has it. Backends see values: what is written
// of NodeSmithHosts is written here.
#pragma once

#include "controllers/cache/informers.hpp"
#include "kube/client.hpp"
#include "providers/host_inventory.hpp"

namespace controllers {

class KubernetesHostInventory final : public providers::HostInventory {
public:
    // All must outlive this.
    KubernetesHostInventory(Informers& informers, kube::Client& client, base::Clock& clock)
        : informers_(informers), client_(client), clock_(clock) {}

    std::vector<providers::HostPointer> hosts(const std::string& namespace_,
                                              const std::string& provider) override;
    providers::HostPointer find(const std::string& namespace_, const std::string& provider,
                                const std::string& name) override;
    asio::awaitable<std::optional<providers::Host>> read(std::string namespace_, std::string name) override;
    asio::awaitable<std::optional<providers::Host>> write(providers::Host before, providers::HostUse use,
                                                          std::string message) override;
    asio::awaitable<std::map<std::string, std::string>> secret(std::string namespace_,
                                                               std::string name) override;

private:
    using NodeSmithHost = api::v1alpha1::NodeSmithHost;
    asio::awaitable<std::optional<NodeSmithHost>> swap_status(NodeSmithHost before,
                                                              api::v1alpha1::HostStatus status);
    asio::awaitable<NodeSmithHost> with_finalizer(NodeSmithHost host);

    Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
};

}  // namespace controllers

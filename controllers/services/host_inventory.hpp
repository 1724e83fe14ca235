// The hosts of bare-metal backends, from the cache and the API server. Taking a host writes its finalizer
// before its claimRef, so that no host disappears while a claim has it.
#pragma once

#include "controllers/cache/informers.hpp"
#include "kube/client.hpp"
#include "providers/host_inventory.hpp"

namespace controllers {

class KubernetesHostInventory final : public providers::HostInventory {
public:
    // Both must outlive this.
    KubernetesHostInventory(Informers& informers, kube::Client& client)
        : informers_(informers), client_(client) {}

    std::vector<providers::HostPointer> hosts(const std::string& namespace_,
                                              const std::string& provider) override;
    asio::awaitable<std::optional<providers::NodeSmithHost>> read(std::string namespace_,
                                                                  std::string name) override;
    asio::awaitable<std::optional<providers::NodeSmithHost>> write(providers::NodeSmithHost before,
                                                                   providers::HostStatus status) override;
    asio::awaitable<std::map<std::string, std::string>> secret(std::string namespace_,
                                                               std::string name) override;

private:
    asio::awaitable<providers::NodeSmithHost> with_finalizer(providers::NodeSmithHost host);

    Informers& informers_;
    kube::Client& client_;
};

}  // namespace controllers

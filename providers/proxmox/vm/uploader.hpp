// Files go to the host that shall have them. Through another host Proxmox copies them by ssh, in two steps
// during which it says nothing, and cuts off a client that hears nothing for five seconds: under load that is
// nearly every one.
#pragma once

#include "base/gate.hpp"
#include "providers/environment.hpp"
#include "providers/proxmox/cluster/host_addresses.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

class Uploader {
public:
    // Both must outlive this.
    Uploader(Client& client, ProviderEnvironment& environment)
        : client_(client),
          addresses_(client, environment.clock),
          through_endpoint_(environment.executor, 1) {}

    // As Client::change(): straight to the host where that is possible, else through the endpoint, one at a
    // time. Throws ProxmoxError, FencedError.
    asio::awaitable<json::value> upload(Call call);

private:
    asio::awaitable<std::optional<HostAddress>> address_of(std::string host);

    Client& client_;
    HostAddresses addresses_;
    base::Gate through_endpoint_;
};

}  // namespace providers::proxmox

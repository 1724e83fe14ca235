// Uploader sends files directly to the host that needs them. Otherwise Proxmox copies them by ssh in two
// steps, during which it sends nothing. It closes a connection that is silent for five seconds, which under
// load happens to nearly every upload.
#pragma once

#include "base/gate.hpp"
#include "providers/environment.hpp"
#include "providers/proxmox/cluster/host_addresses.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

class Uploader {
public:
    // Both arguments must outlive this.
    Uploader(ProxmoxClient& client, ProviderEnvironment& environment)
        : client_(client),
          addresses_(client, environment.clock),
          through_endpoint_(environment.executor, 1) {}

    // Works like Client::change(). It uses the host directly if possible, else the endpoint, one upload at a
    // time. Throws ProxmoxError, FencedError.
    asio::awaitable<json::value> upload(Call call);

private:
    asio::awaitable<std::optional<HostAddress>> address_of(std::string host);

    ProxmoxClient& client_;
    HostAddresses addresses_;
    base::Gate through_endpoint_;
};

}  // namespace providers::proxmox

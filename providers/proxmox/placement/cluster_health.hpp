// Whether the cluster answers, lets us in and lets us do what the configuration asks for.
#pragma once

#include "providers/health.hpp"
#include "providers/proxmox/placement/templates.hpp"

namespace providers::proxmox {

// Three requests, and now and then one for each template. Never throws ProxmoxError: what is wrong is the
// answer.
asio::awaitable<Health> check_health(const Settings& settings, Client& client, ClusterView& view,
                                     Templates& templates);

}  // namespace providers::proxmox

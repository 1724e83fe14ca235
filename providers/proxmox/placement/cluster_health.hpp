// Checks whether the cluster answers, accepts our token, and grants the rights that the configuration needs.
#pragma once

#include "providers/health.hpp"
#include "providers/proxmox/placement/templates.hpp"

namespace providers::proxmox {

// Sends three requests, and sometimes one for each template. Reports errors in Health and never throws
// ProxmoxError.
asio::awaitable<Health> check_health(const Settings& settings, ProxmoxClient& client, ClusterView& view,
                                     Templates& templates);

}  // namespace providers::proxmox

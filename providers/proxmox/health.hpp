// Whether the cluster answers, lets us in and lets us do what the configuration asks for.
#pragma once

#include "providers/proxmox/cluster_view.hpp"

namespace providers::proxmox {

// Two requests. Never throws ApiError: what is wrong is the answer.
asio::awaitable<Health> check_health(const Settings& settings, Client& client, ClusterView& view);

}  // namespace providers::proxmox

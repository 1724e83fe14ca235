// What answers of Proxmox say about the cluster that they come from. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace providers::proxmox {

// Of GET /nodes/localhost/certificates/info: the fingerprint of the cluster's own authority. Every cluster
// makes one when its first host is installed, and keeps it when a host becomes a cluster, when hosts join and
// when their certificates are renewed. Empty: the answer does not show it.
std::string authority_fingerprint(const boost::json::value& certificates);
// Of GET /cluster/status: the cluster's name, of a standalone host that host's. Empty: the answer has none.
std::string cluster_name(const boost::json::value& status);

}  // namespace providers::proxmox

// Reads the identity of a cluster from Proxmox' answers. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace providers::proxmox {

// Returns the fingerprint of the cluster's CA from GET /nodes/localhost/certificates/info. The first host of
// a cluster makes this CA when it is installed. It is kept when the host becomes a cluster, when hosts join,
// and when certificates are renewed. Empty: the answer does not show it.
std::string authority_fingerprint(const boost::json::value& certificates);
// Returns the cluster's name from GET /cluster/status; a standalone host gives its own name. Empty: the
// answer has no name.
std::string cluster_name(const boost::json::value& status);

}  // namespace providers::proxmox

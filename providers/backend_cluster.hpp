// Which cluster of its kind a backend answers for. Two clusters may bear the same name, so it has an identity
// beside it.
#pragma once

#include <string>

namespace providers {

struct BackendCluster {
    std::string name;  // for people; empty: not known
    std::string id;    // of Proxmox: SHA-256 of the certificate of its authority; empty: not known

    bool operator==(const BackendCluster&) const = default;
};

// "cluster lab (4F:A1:...)"
inline std::string describe(const BackendCluster& cluster) {
    if (cluster.name.empty()) return "the cluster with the identity " + cluster.id;
    return "cluster " + cluster.name + (cluster.id.empty() ? "" : " (" + cluster.id + ")");
}

}  // namespace providers

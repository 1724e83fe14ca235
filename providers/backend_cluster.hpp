// BackendCluster identifies the cluster behind a backend, for example a Proxmox cluster. Two clusters may
// have the same name, so it also has an identity.
#pragma once

#include <string>

namespace providers {

struct BackendCluster {
    std::string name;  // shown to people; empty if unknown
    std::string id;    // Proxmox: SHA-256 of the certificate of the cluster's CA; empty if unknown

    bool operator==(const BackendCluster&) const = default;
};

// Returns, for example, "cluster lab (4F:A1:...)".
inline std::string describe(const BackendCluster& cluster) {
    if (cluster.name.empty()) return "the cluster with the identity " + cluster.id;
    return "cluster " + cluster.name + (cluster.id.empty() ? "" : " (" + cluster.id + ")");
}

}  // namespace providers

// Records what outsiders did. Some of it excuses what would otherwise be a violation, and some is needed to
// judge the operator.
#pragma once

#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace simulation {

// Taking is a Node or machine of a claim that an outsider removed.
struct Taking {
    std::string pool;  // namespace/name
    std::string claim_uid;
    std::int64_t created_seconds = 0;  // creation time of the claim by the API server's clock
    std::int64_t seconds = 0;          // time of the removal by the same clock
};

// CreationRefusal says which claims may not be created.
struct CreationRefusal {
    std::string pool;            // name of the refused pool; empty: no pool
    std::int64_t cpu_cores = 0;  // cores of the refused size; 0: no size
    bool is_of_all = false;
    std::string message;
    bool is_in_force = false;
    base::TimePoint ended{};  // last time at which it ended

    bool concerns(const std::string& of_pool, std::int64_t cores) const {
        return is_in_force && (is_of_all || of_pool == pool || (cpu_cores > 0 && cores == cpu_cores));
    }
};

// ProviderHang is a provider that takes requests and answers none.
struct ProviderHang {
    std::string provider;  // name; empty: no provider ever hung
    bool is_in_force = false;
    base::TimePoint began{};
    base::TimePoint ended{};

    // Reports whether the pool's provider hangs. In such worlds the pool has the provider's name.
    bool concerns(const std::string& pool) const { return is_in_force && pool == provider; }
};

// MachineRefusal is a provider that refuses to create machines.
struct MachineRefusal {
    std::string provider;  // name; empty: no provider ever refused
    std::string message;
    bool is_in_force = false;

    bool concerns(const std::string& pool) const { return is_in_force && pool == provider; }
};

// StatusHang is an admission webhook that does not answer writes of one kind's status, approvals of
// certificates, or writes of Secrets, Nodes or Events.
struct StatusHang {
    std::string resource;  // such as "nodesmithproviders"; empty: none ever hung
    bool is_in_force = false;
    base::TimePoint ended{};
    bool has_hosts = false;  // a provider is bare metal

    // Reports whether launches wait for the status of this kind. Nothing else may wait for another kind. A
    // launch on bare metal reserves a host in its status.
    bool stops_launches() const {
        const bool is_of_hosts = has_hosts && resource == "nodesmithhosts";
        return is_of_hosts || resource == "nodesmithclaims" || resource == "nodesmithpools" ||
               resource == "certificatesigningrequests" || resource == "secrets" || resource == "nodes";
    }
};

// Webhook is an admission webhook that forbids the eviction of some pods.
struct Webhook {
    enum class Way { denies, is_down, hangs } way = Way::denies;
    int code = 403;   // status code of its denials
    int modulus = 1;  // the webhook judges one pod in so many
    bool is_for(const std::string& pod) const {
        return std::accumulate(pod.begin(), pod.end(), 0) % modulus == 0;
    }
};

struct Interference {
    std::optional<Webhook> webhook;  // the webhook that is active now
    std::vector<Taking> takings;
    CreationRefusal refusal;
    ProviderHang hang;
    MachineRefusal machine_refusal;
    StatusHang status_hang;
    std::map<std::string, std::string> last_failures;  // why the last claim failed, by pool
    bool isolates_hosts = false;                       // Proxmox hosts are isolated at times
    // Requests of the operator of a copied control plane that ended or removed a VM, or ended the use, mark
    // or boot of a host.
    std::vector<std::string> destroyed_by_copies;
    std::set<std::string> deleted_nodes;   // names
    std::set<std::string> deleted_claims;  // UIDs
    std::set<std::string> taint_keys;      // keys of taints that outsiders put on young Nodes and remove
                                           // again
    base::TimePoint last{};                // time of the last deed
};

}  // namespace simulation

// What outsiders did that excuses what would otherwise be a violation, and by what others are judged.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace simulation {

// The Node or machine of a claim that an outsider took away.
struct Taking {
    std::string pool;  // namespace/name
    std::string claim_uid;
    std::int64_t created_seconds = 0;  // when the claim was created, by the API server's clock
    std::int64_t seconds = 0;          // when it was taken away, by the same clock
};

// Which claims may not be created.
struct CreationRefusal {
    std::string pool;            // name; empty: not by pool
    std::int64_t cpu_cores = 0;  // 0: not by size
    bool is_of_all = false;
    std::string message;
    bool is_in_force = false;
    base::TimePoint ended{};  // when it last was

    bool concerns(const std::string& of_pool, std::int64_t cores) const {
        return is_in_force && (is_of_all || of_pool == pool || (cpu_cores > 0 && cores == cpu_cores));
    }
};

// A provider that takes requests and answers none.
struct ProviderHang {
    std::string provider;  // name; empty: none ever did
    bool is_in_force = false;
    base::TimePoint began{};
    base::TimePoint ended{};

    // In the worlds with such a provider its pool is named like it.
    bool concerns(const std::string& pool) const { return is_in_force && pool == provider; }
};

// An admission webhook that lets some pods not be evicted.
struct Webhook {
    enum class Way { denies, is_down, hangs } way = Way::denies;
    int code = 403;   // of its denials
    int modulus = 1;  // one of so many pods is its business
    bool is_for(const std::string& pod) const {
        return std::accumulate(pod.begin(), pod.end(), 0) % modulus == 0;
    }
};

struct Interference {
    std::optional<Webhook> webhook;  // at work now
    std::vector<Taking> takings;
    CreationRefusal refusal;
    ProviderHang hang;
    bool isolates_hosts = false;           // of Proxmox, at times
    std::set<std::string> deleted_nodes;   // names
    std::set<std::string> deleted_claims;  // UIDs
    std::set<std::string> taint_keys;      // that outsiders put on young Nodes and take off again
    base::TimePoint last{};                // when anything was last done
};

}  // namespace simulation

// What outsiders did that excuses what would otherwise be a violation, and by what others are judged.
#pragma once

#include <cstdint>
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
    bool is_in_force = false;
    base::TimePoint ended{};  // when it last was

    bool concerns(const std::string& of_pool, std::int64_t cores) const {
        return is_in_force && (is_of_all || of_pool == pool || (cpu_cores > 0 && cores == cpu_cores));
    }
};

struct Interference {
    std::vector<Taking> takings;
    CreationRefusal refusal;
    std::set<std::string> deleted_nodes;  // names
    std::set<std::string> taint_keys;     // that outsiders put on young Nodes and take off again
    base::TimePoint last{};               // when anything was last done
};

}  // namespace simulation

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

struct Interference {
    std::vector<Taking> takings;
    std::set<std::string> deleted_nodes;  // names
    std::set<std::string> taint_keys;     // that outsiders put on young Nodes and take off again
    base::TimePoint last{};               // when anything was last done
};

}  // namespace simulation

#include "scheduling/volumes/attach_limits.hpp"

#include <algorithm>
#include <utility>

namespace scheduling {

std::vector<AttachLimits> attach_limits(const Snapshot& snapshot) {
    std::vector<AttachLimits> limits;
    for (const auto& pool : snapshot.pools) limits.push_back(pool.volume_limits);
    std::vector<std::map<std::string, api::Time>> reported(limits.size());  // when the Node was created
    for (const auto& node : snapshot.nodes) {
        if (!node.pool || *node.pool >= limits.size() || !node.csi) continue;
        const auto created = node.node->metadata.creationTimestamp.value_or(api::Time());
        for (const auto& driver : node.csi->spec.drivers) {
            const bool is_stated = snapshot.pools[*node.pool].volume_limits.contains(driver.name);
            if (is_stated || !driver.allocatable || driver.allocatable->count.value_or(0) <= 0) continue;
            const std::int64_t count = *driver.allocatable->count;
            const auto [since, is_first] = reported[*node.pool].try_emplace(driver.name, created);
            auto& limit = limits[*node.pool][driver.name];
            if (is_first || since->second < created)
                limit = count;
            else if (since->second == created)
                limit = std::min(limit, count);
            since->second = std::max(since->second, created);
        }
    }
    for (std::size_t pool = 0; pool < limits.size(); ++pool)
        for (const auto& [driver, count] : snapshot.pools[pool].learned_volume_limits)
            limits[pool].try_emplace(driver, count);
    return limits;
}

}  // namespace scheduling

#include "controllers/disruption/rules/saving.hpp"

#include "controllers/disruption/rules/use.hpp"

namespace controllers::disruption {

double price_of_nodes(const scheduling::Snapshot& snapshot, const std::vector<std::size_t>& nodes) {
    double price = 0;
    for (const auto index : nodes) {
        const auto& node = snapshot.nodes[index];
        if (!node.pool) continue;
        const auto& pool = snapshot.pools[*node.pool];
        const auto size = size_of(*node.node);
        price +=
            pool.prices.of(scheduling::MachineSize{size.cpuCores, size.memoryMiB - pool.memory_overhead_mib});
    }
    return price;
}

bool saves_enough(double before, double after) {
    constexpr double kWhole = 100;
    return after * kWhole <= before * (kWhole - static_cast<double>(kLeastSavingPercent));
}

std::string saves_too_little() {
    return "replacement machines would save less than " + std::to_string(kLeastSavingPercent) + " %";
}

}  // namespace controllers::disruption

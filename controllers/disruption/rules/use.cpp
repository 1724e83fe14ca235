#include "controllers/disruption/rules/use.hpp"

#include <algorithm>

#include "controllers/services/drain.hpp"
#include "scheduling/table/amounts.hpp"

namespace controllers::disruption {

namespace {

constexpr std::int64_t kWhole = 100;

Amount amount_of(const scheduling::Amounts& amounts) {
    return {amounts.base[scheduling::kCpu], amounts.base[scheduling::kMemory]};
}

double percent(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(kWhole) * static_cast<double>(part) / static_cast<double>(whole)
                     : 0;
}

}  // namespace

api::v1alpha1::Size size_of(const api::Node& node) {
    const auto amount = [&node](const char* name) {
        const auto found = node.status.capacity.find(name);
        return found == node.status.capacity.end() ? api::Quantity() : found->second;
    };
    return {amount("cpu").value(), amount("memory").mebibytes()};
}

NodeUse use_of(const api::Node& node, const PodPointers& pods) {
    scheduling::ResourceNames names;
    scheduling::Amounts used;
    for (const auto& pod : pods)
        if (is_drainable(*pod)) used += scheduling::taken_by(*pod, names);
    return {amount_of(used), amount_of(scheduling::amounts_of(node.status.allocatable, names))};
}

double utilization_percent(const NodeUse& use) {
    return std::max(percent(use.requested.cpu, use.allocatable.cpu),
                    percent(use.requested.memory, use.allocatable.memory));
}

double price_percent(const NodeUse& use, const api::v1alpha1::Size& size, const scheduling::Prices& prices) {
    const auto whole = prices.of(scheduling::MachineSize{size.cpuCores, size.memoryMiB});
    const auto used =
        prices.of(static_cast<double>(use.requested.cpu) / static_cast<double>(scheduling::kMilli),
                  static_cast<double>(use.requested.memory) / static_cast<double>(scheduling::kMiB));
    return whole > 0 ? kWhole * used / whole : 0;
}

void PoolUse::add(const NodeUse& node, bool stays) {
    requested_.cpu += node.requested.cpu;
    requested_.memory += node.requested.memory;
    if (!stays) return;
    const auto& offers = node.allocatable;
    allocatable_.cpu += offers.cpu;
    allocatable_.memory += offers.memory;
    smallest_.cpu = any_ ? std::min(smallest_.cpu, offers.cpu) : offers.cpu;
    smallest_.memory = any_ ? std::min(smallest_.memory, offers.memory) : offers.memory;
    any_ = true;
}

void PoolUse::lose(const NodeUse& node) {
    allocatable_.cpu -= node.allocatable.cpu;
    allocatable_.memory -= node.allocatable.memory;
}

bool PoolUse::fits(std::int64_t headroom_percent) const {
    return fits_in(allocatable_, headroom_percent);
}

bool PoolUse::fits_without(const NodeUse& node, std::int64_t headroom_percent) const {
    auto rest = *this;
    rest.lose(node);
    return rest.fits(headroom_percent);
}

bool PoolUse::fits_on_fewer(std::int64_t headroom_percent) const {
    return any_ && fits_in({allocatable_.cpu - smallest_.cpu, allocatable_.memory - smallest_.memory},
                           headroom_percent);
}

bool PoolUse::fits_in(Amount room, std::int64_t headroom_percent) const {
    const auto usable = kWhole - headroom_percent;
    return requested_.cpu * kWhole <= room.cpu * usable && requested_.memory * kWhole <= room.memory * usable;
}

}  // namespace controllers::disruption

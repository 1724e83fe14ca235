#include "controllers/host_capacity.hpp"

namespace controllers {

using api::v1alpha1::HostCapacity;

namespace {

// A Node reports slightly less memory than its firmware. It reports half of the cores if threads are switched
// off. Any other difference means that the hardware was changed.
constexpr double kLeastOfMemory = 0.85;
constexpr double kLeastOfCores = 0.5;
// Upper bounds for one machine: names from device plugins, and devices with one name, each counted in shares.
constexpr std::size_t kMostExtended = 16;
constexpr std::size_t kMostInStatus = 64;
constexpr std::int64_t kMostOfOneExtended = 1000;
std::int64_t whole(const api::ResourceList& list, const std::string& name) {
    const auto found = list.find(name);
    if (found == list.end()) return 0;
    const auto milli = found->second.milli();
    return name == "memory" ? milli / 1000 / (1024 * 1024) : milli / 1000;
}

// Returns the known amount, unless the BMC's figure shows that it is outdated.
std::int64_t known_or(std::int64_t known, std::int64_t told, double least) {
    const bool is_plausible =
        known <= told && static_cast<double>(known) >= least * static_cast<double>(told);
    return is_plausible ? known : told;
}

// Returns the resources that device plugins added to a Node, such as "example.org/gpu". The kubelet may write
// any name and amount, and they outlive its Node. So only plausible ones are believed.
api::ResourceList extended_of(const api::ResourceList& list) {
    const auto most = api::Quantity::of(kMostOfOneExtended);
    api::ResourceList extended;
    for (const auto& [name, amount] : list) {
        const bool is_plausible = amount > api::Quantity() && amount <= most;
        if (name.find('/') == std::string::npos || !is_plausible) continue;
        extended[name] = amount;
        if (extended.size() == kMostExtended) break;
    }
    return extended;
}

}  // namespace

// Prefers spec.capacity, then the last values of its Node as far as the BMC
// confirms them, then the BMC's values.
std::optional<HostCapacity> next_capacity(const HostFacts& facts) {
    HostCapacity capacity = facts.host.status.capacity.value_or(HostCapacity{});
    const auto told_cores = facts.report && facts.report->reachable ? facts.report->cpu_cores : 0;
    const auto told_memory = facts.report && facts.report->reachable ? facts.report->memory_mib : 0;
    if (told_cores > 0) capacity.cpuCores = known_or(capacity.cpuCores, told_cores, kLeastOfCores);
    if (told_memory > 0) capacity.memoryMiB = known_or(capacity.memoryMiB, told_memory, kLeastOfMemory);
    if (facts.claim && whole(facts.claim->status.capacity, "cpu") > 0) {
        const auto cores = whole(facts.claim->status.capacity, "cpu");
        const auto memory_mib = whole(facts.claim->status.capacity, "memory");
        // The kubelet of the Node writes these values. The known ones come from the
        // BMC or were checked against it.
        const auto most_cores = told_cores > 0 ? told_cores : capacity.cpuCores;
        const auto most_memory = told_memory > 0 ? told_memory : capacity.memoryMiB;
        capacity.cpuCores = most_cores > 0 ? known_or(cores, most_cores, kLeastOfCores) : cores;
        capacity.memoryMiB = most_memory > 0 ? known_or(memory_mib, most_memory, kLeastOfMemory) : memory_mib;
        capacity.extended = extended_of(facts.claim->status.capacity);
    }
    if (const auto& wanted = facts.host.spec.capacity) {
        if (wanted->cpuCores > 0) capacity.cpuCores = wanted->cpuCores;
        if (wanted->memoryMiB > 0) capacity.memoryMiB = wanted->memoryMiB;
        for (const auto& [name, amount] : wanted->extended) capacity.extended[name] = amount;
        std::erase_if(capacity.extended, [&](const auto& entry) {
            return capacity.extended.size() > kMostInStatus && !wanted->extended.contains(entry.first);
        });
    }
    if (capacity == HostCapacity{}) return std::nullopt;
    return capacity;
}

}  // namespace controllers

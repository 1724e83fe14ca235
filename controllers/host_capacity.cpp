#include "controllers/host_capacity.hpp"

namespace controllers {

using api::v1alpha1::HostCapacity;

namespace {

// A Node tells a little less memory than its firmware, and half of the processors where threads are switched
// off; anything else means that the machine was changed.
constexpr double kLeastOfMemory = 0.85;
constexpr double kLeastOfCores = 0.5;
// More names than one machine's device plugins have, and more devices of one name, counted in shares of them.
constexpr std::size_t kMostExtended = 16;
constexpr std::int64_t kMostOfOneExtended = 1000;
std::int64_t whole(const api::ResourceList& list, const std::string& name) {
    const auto found = list.find(name);
    if (found == list.end()) return 0;
    const auto milli = found->second.milli();
    return name == "memory" ? milli / 1000 / (1024 * 1024) : milli / 1000;
}

// What is known, unless the BMC's figure shows that it is no longer true.
std::int64_t known_or(std::int64_t known, std::int64_t told, double least) {
    const bool is_plausible =
        known <= told && static_cast<double>(known) >= least * static_cast<double>(told);
    return is_plausible ? known : told;
}

// What device plugins added to a Node: "example.org/gpu". The kubelet may write any name and amount, and they
// are kept beyond its Node, so only plausible ones are believed.
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

// spec.capacity, then what its Node said when it last was one, as far as the BMC finds it plausible, then
// what the BMC says.
std::optional<HostCapacity> next_capacity(const HostFacts& facts) {
    HostCapacity capacity = facts.host.status.capacity.value_or(HostCapacity{});
    const auto told_cores = facts.report && facts.report->reachable ? facts.report->cpu_cores : 0;
    const auto told_memory = facts.report && facts.report->reachable ? facts.report->memory_mib : 0;
    if (told_cores > 0) capacity.cpuCores = known_or(capacity.cpuCores, told_cores, kLeastOfCores);
    if (told_memory > 0) capacity.memoryMiB = known_or(capacity.memoryMiB, told_memory, kLeastOfMemory);
    if (facts.claim && whole(facts.claim->status.capacity, "cpu") > 0) {
        const auto cores = whole(facts.claim->status.capacity, "cpu");
        const auto memory_mib = whole(facts.claim->status.capacity, "memory");
        // The Node's kubelet writes them. What is known already comes from the BMC, or was plausible beside
        // it.
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
    }
    if (capacity == HostCapacity{}) return std::nullopt;
    return capacity;
}

}  // namespace controllers

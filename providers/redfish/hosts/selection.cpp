#include "providers/redfish/hosts/selection.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "api/names.hpp"
#include "api/v1alpha1/machine_cost.hpp"
#include "base/text.hpp"

namespace providers::redfish {

namespace {

using api::v1alpha1::HostSelection;

constexpr std::size_t kMostExplained = 5;

std::int64_t waste(const NodeSmithHost& host, const MachineSpec& machine) {
    const auto& capacity = *host.status.capacity;
    return api::v1alpha1::cost_in_mib(capacity.cpuCores - machine.cpu_cores,
                                      capacity.memoryMiB - machine.memory_mib);
}

bool contains(const std::vector<std::string>& list, const std::string& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

// Hosts in use by the value of the label that spreads them.
std::map<std::string, std::int64_t> use_by_label(const std::vector<HostPointer>& hosts,
                                                 const std::string& label) {
    std::map<std::string, std::int64_t> use;
    for (const auto& host : hosts) {
        if (host->status.claimRef) ++use[label_of(*host, label)];
    }
    return use;
}

std::optional<std::string> why_too_small(const NodeSmithHost& host, const MachineSpec& machine) {
    const auto& capacity = *host.status.capacity;
    if (capacity.cpuCores >= machine.cpu_cores && capacity.memoryMiB >= machine.memory_mib)
        return std::nullopt;
    return "offers " + base::counted(capacity.cpuCores, "core") + " and " +
           std::to_string(capacity.memoryMiB) + " MiB, " + std::to_string(machine.cpu_cores) + " and " +
           std::to_string(machine.memory_mib) + " are needed";
}

}  // namespace

std::string label_of(const NodeSmithHost& host, const std::string& key) {
    const auto* value = api::find(host.metadata.labels, key);
    return value ? *value : std::string();
}

bool is_on(const NodeSmithHost& host) {
    return host.status.powerState == "On";
}

std::optional<std::string> why_unusable(const NodeSmithHost& host, const Settings& settings) {
    const auto& selector = settings.spec.hostSelector;
    if (selector && !api::matches(*selector, host.metadata.labels))
        return "is not selected by the provider's hostSelector";
    if (host.metadata.deletionTimestamp) return "is being deleted";
    if (host.spec.maintenance) return "is in maintenance";
    if (host.status.claimRef) return "is in use by claim " + host.status.claimRef->name;
    const auto* ready = api::find_condition(host.status.conditions, api::conditions::kReady);
    if (!ready) return "has not been examined yet";
    if (ready->status != api::ConditionStatus::True) return ready->message;
    if (!host.status.capacity || host.status.capacity->cpuCores == 0 || host.status.capacity->memoryMiB == 0)
        return "has no known capacity; set spec.capacity";
    return std::nullopt;
}

Choice choose_host(const std::vector<HostPointer>& hosts, const MachineSpec& machine,
                   const Settings& settings, const std::set<std::string>& excluded) {
    const auto& label = settings.spec.spreadLabel;
    const auto use = use_by_label(hosts, label);
    const auto rank = [&](const NodeSmithHost& host) {
        std::int64_t by_policy = 0;
        if (settings.spec.selection == HostSelection::BestFit) by_policy = waste(host, machine);
        if (settings.spec.selection == HostSelection::Priority) by_policy = -host.spec.priority;
        if (settings.spec.selection == HostSelection::Spread) {
            const auto found = use.find(label_of(host, label));
            by_policy = found == use.end() ? 0 : found->second;
        }
        return std::tuple(!is_on(host), contains(machine.avoid_hosts, host.metadata.name),
                          host.status.failures, by_policy, -host.spec.priority, waste(host, machine),
                          host.metadata.name);
    };
    std::set<std::string> taken = excluded;
    for (const auto& reservation : machine.reservations) taken.insert(reservation.machine_id);

    Choice choice;
    std::size_t unfit = 0;
    for (const auto& host : hosts) {
        auto why = why_unusable(*host, settings);
        if (!why) why = why_too_small(*host, machine);
        if (!why && taken.contains(host->metadata.name)) why = "is about to be used by another claim";
        if (!why && !machine.zone.empty() && machine.zone != host->metadata.name)
            why = "is not the one that the pods need (" + machine.zone + ")";
        if (!why) {
            if (!choice.host || rank(*host) < rank(*choice.host)) choice.host = host;
        } else if (++unfit <= kMostExplained) {
            choice.why_not += (choice.why_not.empty() ? "" : "; ") + host->metadata.name + " " + *why;
        }
    }
    choice.is_permanent = !hosts.empty() && std::ranges::all_of(hosts, [&](const HostPointer& host) {
        const auto& capacity = host->status.capacity;
        return capacity && capacity->cpuCores > 0 && capacity->memoryMiB > 0 && why_too_small(*host, machine);
    });
    if (hosts.empty()) choice.why_not = "no NodeSmithHost names this provider";
    if (unfit > kMostExplained) choice.why_not += "; and " + std::to_string(unfit - kMostExplained) + " more";
    return choice;
}

}  // namespace providers::redfish

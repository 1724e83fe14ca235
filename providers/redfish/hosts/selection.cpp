#include "providers/redfish/hosts/selection.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "api/v1alpha1/common.hpp"
#include "base/text.hpp"

namespace providers::redfish {

namespace {

using api::v1alpha1::HostSelection;

constexpr std::size_t kMostExplained = 5;

std::int64_t waste(const Host& host, const MachineSpec& machine) {
    const auto& capacity = *host.capacity;
    return api::v1alpha1::cost_in_mib(capacity.cpu_cores - machine.cpu_cores,
                                      capacity.memory_mib - machine.memory_mib);
}

bool contains(const std::vector<std::string>& list, const std::string& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

// Counts the hosts in use by the value of the label that spreads them.
std::map<std::string, std::int64_t> use_by_label(const std::vector<HostPointer>& hosts,
                                                 const std::string& label) {
    std::map<std::string, std::int64_t> use;
    for (const auto& host : hosts) {
        if (host->use.owner) ++use[label_of(*host, label)];
    }
    return use;
}

std::optional<std::string> why_other_architecture(const Host& host, const MachineSpec& machine) {
    const bool fits = host.architecture.empty() || machine.architecture.empty() ||
                      host.architecture == machine.architecture;
    if (fits) return std::nullopt;
    return "is " + host.architecture + ", machineTemplate.architecture of the pool is " +
           machine.architecture;
}

std::optional<std::string> why_too_small(const Host& host, const MachineSpec& machine) {
    const auto& capacity = *host.capacity;
    if (capacity.cpu_cores >= machine.cpu_cores && capacity.memory_mib >= machine.memory_mib)
        return std::nullopt;
    return "offers " + base::counted(capacity.cpu_cores, "core") + " and " +
           std::to_string(capacity.memory_mib) + " MiB, " + std::to_string(machine.cpu_cores) + " and " +
           std::to_string(machine.memory_mib) + " are needed";
}

}  // namespace

std::string label_of(const Host& host, const std::string& key) {
    const auto* value = api::find(host.labels, key);
    return value ? *value : std::string();
}

bool is_on(const Host& host) {
    return host.power_state == "On";
}

std::optional<std::string> why_unusable(const Host& host, const RedfishSettings& settings) {
    const auto& selector = settings.spec.hostSelector;
    if (selector && !api::matches(*selector, host.labels))
        return "is not selected by the provider's hostSelector";
    if (host.is_being_deleted) return "is being deleted";
    if (host.is_in_maintenance) return "is in maintenance";
    if (host.use.owner) return "is in use by claim " + host.use.owner->claim_name;
    if (!host.readiness) return "has not been examined yet";
    if (!host.readiness->is_ready) return host.readiness->message;
    if (!host.capacity || host.capacity->cpu_cores == 0 || host.capacity->memory_mib == 0)
        return "has no known capacity; set spec.capacity";
    return std::nullopt;
}

Choice choose_host(const std::vector<HostPointer>& hosts, const MachineSpec& machine,
                   const RedfishSettings& settings, const std::set<std::string>& excluded) {
    const auto& label = settings.spec.spreadLabel;
    const auto use = use_by_label(hosts, label);
    const auto rank = [&](const Host& host) {
        std::int64_t by_policy = 0;
        if (settings.spec.selection == HostSelection::BestFit) by_policy = waste(host, machine);
        if (settings.spec.selection == HostSelection::Priority) by_policy = -host.priority;
        if (settings.spec.selection == HostSelection::Spread) {
            const auto found = use.find(label_of(host, label));
            by_policy = found == use.end() ? 0 : found->second;
        }
        return std::tuple(!is_on(host), contains(machine.avoid_hosts, host.name), host.use.failures,
                          by_policy, -host.priority, waste(host, machine), host.name);
    };
    std::set<std::string> taken = excluded;
    for (const auto& reservation : machine.reservations) taken.insert(reservation.machine_id);

    Choice choice;
    std::size_t unfit = 0;
    for (const auto& host : hosts) {
        auto why = why_unusable(*host, settings);
        if (!why) why = why_too_small(*host, machine);
        if (!why) why = why_other_architecture(*host, machine);
        if (!why && taken.contains(host->name)) why = "is about to be used by another claim";
        if (!why && !machine.zone.empty() && machine.zone != host->name)
            why = "is not the one that the pods need (" + machine.zone + ")";
        if (!why) {
            if (!choice.host || rank(*host) < rank(*choice.host)) choice.host = host;
        } else if (++unfit <= kMostExplained) {
            choice.why_not += (choice.why_not.empty() ? "" : "; ") + host->name + " " + *why;
        }
    }
    choice.is_permanent = !hosts.empty() && std::ranges::all_of(hosts, [&](const HostPointer& host) {
        const auto& capacity = host->capacity;
        return capacity && capacity->cpu_cores > 0 && capacity->memory_mib > 0 &&
               why_too_small(*host, machine);
    });
    if (hosts.empty()) choice.why_not = "no NodeSmithHost names this provider";
    if (unfit > kMostExplained) choice.why_not += "; and " + std::to_string(unfit - kMostExplained) + " more";
    return choice;
}

}  // namespace providers::redfish

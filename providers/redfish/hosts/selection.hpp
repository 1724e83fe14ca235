// Choice of a host for a claim. It is deterministic, so that it can be explained afterwards. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "providers/host_inventory.hpp"
#include "providers/launch.hpp"
#include "providers/redfish/hosts/settings.hpp"

namespace providers::redfish {

// Returns why the host cannot be given to a claim; nullopt: it can.
std::optional<std::string> why_unusable(const Host& host, const RedfishSettings& settings);
bool is_on(const Host& host);

// Returns an empty text if it has no such label.
std::string label_of(const Host& host, const std::string& key);

struct Choice {
    HostPointer host;           // null: no host
    std::string why_not;        // set without a host: what each host lacks
    bool is_permanent = false;  // set without a host: each is too small, whatever changes
};
// Chooses a host that can serve `machine`, is not reserved for other claims, and is not in `excluded`. The
// order is: hosts that are on, hosts without a failed earlier attempt, fewest failures, the provider's
// policy, highest priority, and name.
Choice choose_host(const std::vector<HostPointer>& hosts, const MachineSpec& machine,
                   const RedfishSettings& settings, const std::set<std::string>& excluded);

}  // namespace providers::redfish

// Which host serves a claim: deterministic, so that it can be explained afterwards. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "providers/host_inventory.hpp"
#include "providers/launch.hpp"
#include "providers/redfish/hosts/settings.hpp"

namespace providers::redfish {

// Why the host cannot be given to a claim, for people; nullopt: it can.
std::optional<std::string> why_unusable(const Host& host, const Settings& settings);
bool is_on(const Host& host);

// Empty: it has no such label.
std::string label_of(const Host& host, const std::string& key);

struct Choice {
    HostPointer host;           // null: none
    std::string why_not;        // then: what each host lacks
    bool is_permanent = false;  // then: each is too small, whatever becomes of it
};
// Of the hosts that can serve `machine` and are neither reserved for other claims nor in `excluded`: those
// that are on already, then those that an earlier attempt did not fail on, with fewest failures, best by the
// provider's policy, of the highest priority, and first by name.
Choice choose_host(const std::vector<HostPointer>& hosts, const MachineSpec& machine,
                   const Settings& settings, const std::set<std::string>& excluded);

}  // namespace providers::redfish

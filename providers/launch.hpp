// Description of a machine to create, and results of one step towards it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "providers/boot_sources.hpp"
#include "providers/machine.hpp"

namespace providers {

// CapacityReservation is another claim's machine that the backend may not report yet.
struct CapacityReservation {
    std::string host;
    std::string machine_id;
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;
};

struct MachineSpec {
    MachineIdentity identity;
    std::string name;  // machine name; also the Node's name if we render the join data
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;           // offered by the node; the backend adds its overhead
    std::string zone;                      // preferred zone; empty: any
    std::string architecture;              // architecture of its image: amd64, arm64; empty: any
    MachineRecord record;                  // as recorded in the claim so far
    std::vector<std::string> avoid_hosts;  // hosts where earlier attempts failed: used last
    // Recent failures of the provider's machines by host. Hosts with the fewest failures are preferred.
    std::map<std::string, int> recent_failures;
    std::vector<CapacityReservation> reservations;
    std::vector<std::string> taken_ids;  // other providers' machines on the same cluster, visible or not
    std::string last_placed_host;        // used for round robin
    // MAC addresses by interface name (net0), for interfaces that need an address known before the start.
    std::map<std::string, std::string> mac_addresses;
    // These outlive the call. If they are null, the image joins by itself and the guest keeps the image's
    // settings.
    BootImageSource* boot_image = nullptr;
    GuestSettingsSource* guest = nullptr;
    GuestJoin* join = nullptr;

    // Returns null if the backend must deliver the boot data, if there are any.
    ServedBootData* served_boot_data() const { return boot_image ? boot_image->served() : nullptr; }
};

// InsufficientCapacity means that no host can take the machine now. The message names what each host lacks.
struct InsufficientCapacity {
    std::string message;
    bool permanent = false;  // larger than what any host can ever give to one machine
    // True if the recorded place was given back: no part of the machine exists or can still appear.
    bool is_given_back = false;
};
// NotReady means that the backend cannot act now (unreachable, locked, no quorum). This call changed nothing.
struct NotReady {
    std::string message;
    base::Duration retry_after = std::chrono::seconds{10};
};
// AttemptFailed means that this attempt cannot succeed. All parts of the machine must be removed before
// another attempt.
struct AttemptFailed {
    std::string reason;  // CamelCase, for a condition: CloneFailed, StartFailed, MachineVanished, ...
    std::string message;
    bool avoid_host = false;
    // True if the cause is temporary or depends on the host: a full storage, a lock, a slow start. The
    // attempt does not count.
    bool is_excused = false;
    // True if the provider refused the request to create the machine. Trying again costs only a request, in
    // contrast to a creation that failed half-way.
    bool is_refused = false;
};
// NameTaken means that another machine has the name, and both would be the same Node. Nothing was created.
struct NameTaken {
    std::string message;
};
using EnsureResult = std::variant<Machine, InsufficientCapacity, NotReady, AttemptFailed, NameTaken>;

}  // namespace providers

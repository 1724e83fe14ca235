// What a machine shall be, and what comes of one step towards it.
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

// Another claim's machine that may not be visible yet in what the backend reports.
struct Reservation {
    std::string host;
    std::string machine_id;
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;
};

struct MachineSpec {
    MachineIdentity identity;
    std::string name;  // machine name; also the Node's name where we render the join
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;           // what the node shall offer; the backend adds its own overhead
    std::string zone;                      // a wish for a zone; empty: any
    std::string architecture;              // that its image is for: amd64, arm64; empty: any
    MachineRecord record;                  // as recorded in the claim so far
    std::vector<std::string> avoid_hosts;  // hosts where earlier attempts failed: used last
    // How many machines of the provider failed on a host lately, by host: those with the fewest are
    // preferred.
    std::map<std::string, int> recent_failures;
    std::vector<Reservation> reservations;
    std::vector<std::string> taken_ids;  // machines of other providers on the same cluster, visible or not
    std::string last_placed_host;        // for round robin
    // By name of the interface (net0), for those that are to have one that is known before the start.
    std::map<std::string, std::string> mac_addresses;
    // Outlive the call. Null: the image joins by itself; the guest's settings are the image's own.
    BootImageSource* boot_image = nullptr;
    GuestSettingsSource* guest = nullptr;
    GuestJoin* join = nullptr;

    // Null: its boot data, if it gets any, have to be carried to it.
    ServedBootData* served_boot_data() const { return boot_image ? boot_image->served() : nullptr; }
};

// No host can take the machine now; the message names for each host what is missing.
struct InsufficientCapacity {
    std::string message;
    bool permanent = false;  // it is larger than any host can ever give to one machine
    // The place on record was given back: nothing of the machine is there, and nothing can appear.
    bool is_given_back = false;
};
// The backend cannot act now (unreachable, locked, no quorum); nothing was changed by this call.
struct NotReady {
    std::string message;
    base::Duration retry_after = std::chrono::seconds{10};
};
// This attempt cannot succeed. The machine (if any part of it exists) must be removed before another attempt.
struct AttemptFailed {
    std::string reason;  // CamelCase, for a condition: CloneFailed, StartFailed, MachineVanished, ...
    std::string message;
    bool avoid_host = false;
    // What failed passes, or another host has it: a full storage, a lock, a start that took too long. The
    // attempt does not count.
    bool is_excused = false;
};
using EnsureResult = std::variant<Machine, InsufficientCapacity, NotReady, AttemptFailed>;

}  // namespace providers

// A host of bare metal as its backend sees it: what its user says, what is known of it, and which claim uses
// it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "providers/machine.hpp"

namespace providers {

// How far its use by a claim has come.
enum class HostStage {
    other,  // written: it is examined before it is used again; read: whatever is no business of the backend
    reserved,
    powering_on,
    joining,
    in_use,
    powering_off,
    wiping,
};

struct HostOwner {
    std::string claim_name;
    std::string claim_uid;

    bool operator==(const HostOwner&) const = default;
};

// What a backend writes of a host.
struct HostUse {
    std::optional<HostOwner> owner;  // the lock on the host
    HostStage stage = HostStage::other;
    std::int32_t failures = 0;                 // attempts in a row after which it never became a Node
    std::optional<base::WallTime> next_retry;  // then: when it is tried again
    // When it was turned on for its owner, or proved to be the owner's; nullopt: nothing says that it is not
    // somebody else's doing that it is on, so its power is never cut.
    std::optional<base::WallTime> woken;
    std::string last_failure;  // why the last of the failures was one

    bool operator==(const HostUse&) const = default;
};

struct SecretName {
    std::string name;
    std::string namespace_;  // empty: the host's own

    bool operator==(const SecretName&) const = default;
};

// How its BMC is reached.
struct BmcAddress {
    std::string url;                        // https://10.0.0.17
    std::string system_id;                  // needed only if the BMC has more than one system
    std::optional<SecretName> credentials;  // nullopt: the provider's
    std::string ca_bundle_pem;              // empty: the system's trust store
    std::string fingerprint_sha256;         // empty: any that is trusted
    bool insecure_skip_verify = false;

    bool operator==(const BmcAddress&) const = default;
};

// Whether it can be given to a claim.
struct HostReadiness {
    bool is_ready = false;
    std::string message;  // why not
};

// What an inventory needs beyond this to compare and swap; defined where that is.
struct HostSource;

struct Host {
    std::string name;
    std::map<std::string, std::string> labels;
    bool is_being_deleted = false;

    // What its user says.
    BmcAddress bmc;
    std::string boot_mac;
    std::string pinned_uuid;  // system UUID; empty: whichever its BMC tells
    std::string node_name;    // empty: its own
    std::int32_t priority = 0;
    bool is_in_maintenance = false;
    bool is_given = false;  // although it is on, whoever turned it on
    std::vector<std::string> quirks;

    // What is known of it.
    std::optional<HostReadiness> readiness;  // nullopt: it has not been examined yet
    bool is_reachable = false;
    std::string power_state;  // as its BMC says it
    std::string system_uuid;
    std::string architecture;  // empty: unknown
    std::vector<std::string> macs;
    std::optional<Capacity> capacity;

    HostUse use;
    // The versions of the Secrets whose user and password its BMC accepted last, and refused; empty: none.
    std::string accepted_credentials;
    std::string refused_credentials;
    int refusals = 0;                          // then: so often
    std::optional<base::WallTime> refused_at;  // and when
    // Any other value than when they were refused: a person wants them to be tried again.
    std::string retry_mark;
    std::string refused_mark;
    std::shared_ptr<const HostSource> source;
};
using HostPointer = std::shared_ptr<const Host>;

}  // namespace providers

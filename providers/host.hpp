// A bare-metal host as its backend sees it: the user's settings, the known state, and the claim that uses it.
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

// HostStage says how far a claim's use of the host has come.
enum class HostStage {
    other,  // written: to be examined before its next use; read: irrelevant for the backend
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

// HostUse is the part of a host that its backend writes.
struct HostUse {
    std::optional<HostOwner> owner;  // the lock on the host
    HostStage stage = HostStage::other;
    std::int32_t failures = 0;                 // consecutive attempts that produced no Node
    std::optional<base::WallTime> next_retry;  // next attempt after failures
    // Time when the host was turned on for its owner, or proved to be its owner's. If it is nullopt, somebody
    // else may have turned the host on, so its power is never cut.
    std::optional<base::WallTime> woken;
    std::string last_failure;  // cause of the last failure
    // Something was prepared for its boot, which is undone once no claim has the host. Written before that.
    bool is_prepared = false;
    // Requests to erase a drive since the last one that succeeded. Each is counted before it is sent.
    std::int32_t erasures = 0;
    std::optional<base::WallTime> last_erasure;

    bool operator==(const HostUse&) const = default;
};

struct SecretName {
    std::string name;
    std::string namespace_;  // empty: the host's namespace

    bool operator==(const SecretName&) const = default;
};

// BmcAddress says how to reach the host's BMC.
struct BmcAddress {
    std::string url;                        // for example https://10.0.0.17
    std::string system_id;                  // needed only if the BMC has several systems
    std::optional<SecretName> credentials;  // nullopt: the provider's credentials
    std::string ca_bundle_pem;              // empty: the system's trust store
    std::string fingerprint_sha256;         // empty: any trusted certificate
    bool insecure_skip_verify = false;

    bool operator==(const BmcAddress&) const = default;
};

// HostReadiness says whether the host can be given to a claim.
struct HostReadiness {
    bool is_ready = false;
    std::string message;  // why it is not ready
};

// Opaque data that an inventory needs for compare-and-swap. The inventory defines it.
struct HostSource;

struct Host {
    std::string name;
    std::map<std::string, std::string> labels;
    bool is_being_deleted = false;

    // The user's settings.
    BmcAddress bmc;
    std::string boot_mac;
    std::string pinned_uuid;  // system UUID; empty: the UUID that its BMC reports
    std::string node_name;    // empty: the host's name
    std::int32_t priority = 0;
    bool is_in_maintenance = false;
    bool is_given = false;  // may be used although it is on
    std::vector<std::string> quirks;

    // The known state.
    std::optional<HostReadiness> readiness;  // nullopt: not yet examined
    bool is_reachable = false;
    std::string power_state;  // as its BMC reports it
    std::string system_uuid;
    std::string architecture;  // empty if unknown
    std::vector<std::string> macs;
    std::optional<Capacity> capacity;
    std::int64_t disks = 0;  // 0 if unknown

    HostUse use;
    // Versions of the Secrets that the BMC last accepted and last refused; empty: none.
    std::string accepted_credentials;
    std::string refused_credentials;
    bool are_sessions_off = false;             // its BMC's session service is switched off
    int refusals = 0;                          // consecutive refusals of that Secret
    std::optional<base::WallTime> refused_at;  // time of the last refusal
    // A user changes the retry mark to request another attempt. It is compared with the mark at the last
    // refusal.
    std::string retry_mark;
    std::string refused_mark;
    std::shared_ptr<const HostSource> source;
};
using HostPointer = std::shared_ptr<const Host>;

}  // namespace providers

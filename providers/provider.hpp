// What a backend that makes machines must do. Level-triggered: each call looks at what exists and takes
// at most one step; nothing here waits for minutes. Knows nothing of Kubernetes objects.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "api/v1alpha1/provider.hpp"
#include "base/clock.hpp"
#include "base/http_client.hpp"
#include "base/metrics.hpp"
#include "base/random.hpp"

namespace providers {

namespace asio = boost::asio;

// Whose machine it is; written into the machine and read back before anything destructive (decisions: mark).
struct MachineIdentity {
    std::string cluster_id;    // UID of the kube-system namespace
    std::string provider_uid;  // UID of the NodeSmithProvider
    std::string claim_namespace;
    std::string claim_name;
    std::string claim_uid;
    std::int64_t attempt = 1;
    std::string system_uuid;  // SMBIOS UUID, lower case: UUIDv5(claim UID, attempt)

    bool operator==(const MachineIdentity&) const = default;
};

// What is recorded of a machine in its claim, before the act that needs it and after each step.
struct MachineRecord {
    std::string host;        // hypervisor host, or the NodeSmithHost; empty: not placed yet
    std::string machine_id;  // VMID; empty: not placed yet
    std::string task;        // a task under way at the provider (Proxmox UPID); empty: none

    bool operator==(const MachineRecord&) const = default;
};

// Another claim's machine that may not be visible yet in what the backend reports.
struct Reservation {
    std::string host;
    std::string machine_id;
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;
};

// Makes the boot data of a machine when (and only when) the backend needs it, after it was placed.
class BootImageSource {
public:
    BootImageSource() = default;
    BootImageSource(const BootImageSource&) = delete;
    BootImageSource& operator=(const BootImageSource&) = delete;
    virtual ~BootImageSource() = default;
    // The bytes of a NoCloud ISO 9660 image. They hold a secret.
    virtual asio::awaitable<std::string> iso_image(MachineRecord placed) = 0;
};

// What the guest is told by the hypervisor's own means (Proxmox' cloud-init drive). Empty: as the image has
// it.
struct GuestSettings {
    std::string user;
    std::vector<std::string> ssh_authorized_keys;  // "type key comment"
    bool upgrade_packages = false;
    std::string address;  // with prefix length: 10.0.4.50/24; empty: DHCP
    std::string gateway;
    std::vector<std::string> nameservers;
    std::vector<std::string> search_domains;
};
// Makes them when the backend needs them.
class GuestSettingsSource {
public:
    GuestSettingsSource() = default;
    GuestSettingsSource(const GuestSettingsSource&) = delete;
    GuestSettingsSource& operator=(const GuestSettingsSource&) = delete;
    virtual ~GuestSettingsSource() = default;
    virtual asio::awaitable<GuestSettings> guest_settings() = 0;
};

// What is run in a guest to make it join, given to it on the standard input of a shell.
struct JoinScript {
    std::string script;  // may be run again: then it tells what the first run did. Holds a secret.
    std::vector<std::string> secrets;  // texts that must not be told on when its output is
};
// A join by way of the guest agent.
class GuestJoin {
public:
    GuestJoin() = default;
    GuestJoin(const GuestJoin&) = delete;
    GuestJoin& operator=(const GuestJoin&) = delete;
    virtual ~GuestJoin() = default;
    // Makes it when the guest is ready for it.
    virtual asio::awaitable<JoinScript> script(MachineRecord placed) = 0;

    std::vector<std::string>
        ready_command;            // succeeds once the guest is ready; empty: when its agent answers
    bool accept_degraded = true;  // the output "degraded" counts as success
    base::Duration exec_timeout = std::chrono::minutes{5};
};

struct MachineSpec {
    MachineIdentity identity;
    std::string name;  // machine name; also the Node's name where we render the join
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;           // what the node shall offer; the backend adds its own overhead
    std::string zone;                      // a wish for a zone; empty: any
    MachineRecord record;                  // as recorded in the claim so far
    std::vector<std::string> avoid_hosts;  // hosts where earlier attempts failed: used last
    std::vector<Reservation> reservations;
    std::string last_placed_host;  // for round robin
    // Outlive the call. Null: the image joins by itself; the guest's settings are the image's own.
    BootImageSource* boot_image = nullptr;
    GuestSettingsSource* guest = nullptr;
    GuestJoin* join = nullptr;
};

enum class MachineState {
    placed,    // host and id are chosen, nothing exists yet: record them, then call ensure again
    creating,  // a task is under way
    starting,
    running,
    stopped,
};

struct Machine {
    MachineState state = MachineState::placed;
    MachineIdentity identity;
    MachineRecord record;
    std::string name;
    std::string provider_id;
    std::string zone;
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;
    std::vector<std::string> addresses;
    std::string template_revision;  // if placed: of the template that it will be made from; empty: of none
    std::string message;  // what is being waited for, for people: "waiting for task qmcreate on host pve1"
    // Bare metal: identity.system_uuid is the hardware's own, and a lock on the host is the mark.
    bool is_bare_metal = false;
    base::Duration retry_after{};  // when to call again; 0: nothing to wait for
};

// No host can take the machine now; the message names for each host what is missing.
struct InsufficientCapacity {
    std::string message;
    bool permanent = false;  // it is larger than any host can ever give to one machine
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
};
using EnsureResult = std::variant<Machine, InsufficientCapacity, NotReady, AttemptFailed>;

// Removal is under way; call again after retry_after.
struct RemovalInProgress {
    std::string message;
    std::string task;
    base::Duration retry_after = std::chrono::seconds{1};
};
// The machine is verified not to exist (any more).
struct Gone {};
// What stands there is not provably ours, or its host does not answer: nothing was touched.
struct RemovalBlocked {
    std::string reason;  // CamelCase: OwnershipMismatch, HostUnreachable, ProtectionEnabled, Locked, ...
    std::string message;
    base::Duration retry_after = std::chrono::seconds{30};
};
using RemoveResult = std::variant<Gone, RemovalInProgress, RemovalBlocked>;

enum class Power { off, on };

struct HostOffering {
    std::string name;
    std::string zone;
    bool usable = false;         // online, allowed by the configuration, not in maintenance
    std::string why_not;         // if not usable
    std::string remedy;          // if the configuration is to blame for that: what would be right
    bool evacuate = false;       // nodes on it shall leave
    std::int64_t cpu_cores = 0;  // physical
    std::int64_t memory_mib = 0;
    std::int64_t free_cpu_cores = 0;  // what may still be bought there, by committed sizes
    std::int64_t free_memory_mib = 0;
    // That one machine can have at most, however much the host is overcommitted; nullopt: its whole size.
    std::optional<api::v1alpha1::Size> largest;
    std::vector<std::string> machines;  // of this provider, by ID: those that the free figures leave out
};

// What the backend is asked to prove on a health check.
struct Health {
    bool credentials_ok = false;
    bool reachable = false;
    std::string reason;   // CamelCase when not ok: Unreachable, AuthenticationFailed, MissingPrivileges,
                          // TLSVerificationFailed
    std::string message;  // what is wrong and what would be right
    std::string version;
    // Of backends that make machines from a template: whether it is there. Reason empty: it is, or none is
    // configured.
    std::string template_reason;  // TemplateNotFound, TemplateAmbiguous
    std::string template_message;
    // Of the templates found, by host ("*": one for all). Another revision is another template, or other
    // content.
    std::map<std::string, std::string> template_revisions;
    std::int64_t boot_disk_gib = 0;  // of the machines that are made; 0: not known
    // What of the configuration can work on no host (a storage that does not exist), with what would be
    // right. Empty: nothing that is visible.
    std::string configuration_fault;
    std::string not_visible;  // what of it could not be checked, and what that would take; empty: nothing
};

// Failure of the backend that is no expected outcome; `what()` says what was tried, on what, what came back.
class ProviderError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};
// The credentials Secret lacks a key or holds one that cannot be right; what() names it, never its value.
class CredentialsError : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};
// A mutating request was not started because this process may no longer be the leader.
class FencedError : public ProviderError {
public:
    using ProviderError::ProviderError;
};

// What one look at a host through its BMC has shown.
struct HostReport {
    bool reachable = false;
    bool authenticated = false;
    std::string reason;   // CamelCase if something is wrong: Unreachable, Unauthorized, LicenseRequired, ...
    std::string message;  // what is wrong and what would be right
    base::Duration retry_after{};  // when a failed look is worth repeating; 0: as usual
    std::string power_state;       // as the BMC says it; empty: unknown
    std::string health;
    std::string system_uuid;  // lower case, as the BMC writes it; empty: it has none that identifies
    std::string serial_number;
    std::vector<std::string> macs;
    std::int64_t cpu_cores = 0;  // logical processors; 0: unknown (never booted since it was unplugged)
    std::int64_t memory_mib = 0;
    std::optional<std::int64_t> power_watts;
};

// Asked right before a running machine is told to end: whether it is in use after all, as it may be since the
// provider was waited for. Empty: it is known not to be. May throw, and then nothing is ended.
using InUseCheck = std::function<asio::awaitable<bool>()>;
inline constexpr const char* kInUseAfterAll = "the machine is in use after all and left alone";

class HostInventory;

// Every method may throw ProviderError; cancelling half-way leaves an outcome that the next call reads back.
class Provider {
public:
    Provider() = default;
    Provider(const Provider&) = delete;
    Provider& operator=(const Provider&) = delete;
    virtual ~Provider() = default;

    // Takes the machine of `spec.identity` one step nearer to running and tells where it stands. With an
    // empty record it only chooses host and id (state placed). Idempotent by identity and record.
    virtual asio::awaitable<EnsureResult> ensure(MachineSpec spec) = 0;
    // Takes it one step nearer to gone. Never touches what does not prove to be this machine, nor one that
    // runs and is in use.
    virtual asio::awaitable<RemoveResult> remove(MachineIdentity identity, MachineRecord record,
                                                 InUseCheck in_use) = 0;
    // Takes the mark off a machine that its user keeps: from then on we do not manage it. True when done,
    // else call again. Never touches what does not prove to be this machine.
    virtual asio::awaitable<bool> release(MachineIdentity identity, MachineRecord record) = 0;
    // The machine as it is now; nullopt: verified not to exist.
    virtual asio::awaitable<std::optional<Machine>> get(MachineIdentity identity, MachineRecord record) = 0;
    // Every machine whose mark names this cluster and this provider; and without an identity each one that
    // may be ours and could not be asked.
    virtual asio::awaitable<std::vector<Machine>> list() = 0;
    // Hosts and what they can still give; may be served from a cache of at most 10 s.
    virtual asio::awaitable<std::vector<HostOffering>> offerings() = 0;
    virtual asio::awaitable<Health> check() = 0;
    // Takes the machine one step nearer to being switched off (hard) or on. True when it is, else call again.
    // Never touches what does not prove to be this machine, nor switches off one that is in use.
    virtual asio::awaitable<bool> switch_power(MachineIdentity identity, MachineRecord record, Power power,
                                               InUseCheck in_use) = 0;
    // After the Node registered: detach and delete boot data. True when nothing is left of it.
    virtual asio::awaitable<bool> discard_boot_image(MachineIdentity identity, MachineRecord record) = 0;
    // Bare metal only: looks at one NodeSmithHost through its BMC; nullopt: this backend
    // has no hosts. Never throws ProviderError: what is wrong is in the report.
    virtual asio::awaitable<std::optional<HostReport>> examine_host(std::string /*host*/) {
        co_return std::nullopt;
    }
};

// What a backend is made from. References outlive the provider.
struct ProviderConfig {
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string cluster_id;
    api::v1alpha1::ProviderSpec spec;
    std::map<std::string, std::string> credentials;  // the Secret's data, decoded
};
struct ProviderEnvironment {
    asio::any_io_executor executor;
    base::Clock& clock;
    base::Random& random;
    base::MetricsRegistry& metrics;
    // Opens a transport to a backend; production: base::make_http_client, simulation: in-memory.
    std::function<std::unique_ptr<base::HttpTransport>(base::HttpClientOptions)> connect;
    // True while a mutating request may start: the leader lease outlives connecting and writing it.
    std::function<bool()> may_mutate;
    HostInventory* hosts = nullptr;  // for backends of bare metal; outlives the provider
};

// Throws std::invalid_argument naming the field and what would be right, CredentialsError if that is a key of
// the Secret.
std::unique_ptr<Provider> make_provider(ProviderConfig config, ProviderEnvironment& environment);

}  // namespace providers

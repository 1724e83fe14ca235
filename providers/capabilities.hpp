// Optional abilities of a backend.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/interface.hpp"
#include "providers/host_report.hpp"
#include "providers/machine.hpp"
#include "providers/removal.hpp"

namespace providers {

namespace asio = boost::asio;

struct Adopted {
    MachineRecord record;
    std::string provider_id;
    std::string zone;  // empty: no zone
};
// NotAdopted means that the machine is not proven to be the right one. Nothing was changed.
struct NotAdopted {
    std::string message;  // says which proof is missing
};
using AdoptResult = std::variant<Adopted, NotAdopted>;

// Adopter takes over machines that the Go project KubeNodeSmith made. They carry its tag, but not our mark.
// Some backends implement it.
class Adopter : public base::Interface {
public:
    // Writes the mark of `identity` into the machine called `identity.claim_name`. The name must be unique,
    // and the machine must have the provider's tag. It must also have the UUID of `identity`, which its Node
    // reports. May be called again. Throws ProviderError.
    virtual asio::awaitable<AdoptResult> adopt(MachineIdentity identity) = 0;
};

// EpochRecord is what a leader writes at a backend, so that two operators of the same machines find each
// other.
struct EpochRecord {
    std::string epoch;  // of the leader that wrote it
    std::string rival;  // epoch of another operator that this leader found; empty: none

    bool operator==(const EpochRecord&) const = default;
};
// EpochSlot is the machine that carries the record.
struct EpochSlot {
    MachineRecord machine;
    std::string claim_uid;
    std::string text;     // that contains the record, as it was read
    std::string version;  // of the machine's configuration when it was read
    std::optional<EpochRecord> record;
    bool takes_none = false;  // true if no record can be written there now
};
struct EpochLook {
    std::optional<EpochSlot> slot;  // nullopt: no machine can carry a record now
    bool is_empty = false;          // true if no machine of the provider exists
    // Why a finished machine that may be the provider's cannot be read now, and what a person can do; empty:
    // all were read.
    std::string unread;
};

// Returns the SMBIOS UUID of a claim's machine of that attempt.
using ExpectedUuid = std::function<std::string(const std::string& claim_uid, std::int64_t attempt)>;

// EpochKeeper keeps a leader's epoch in a place that all operators of the same machines read. Backends whose
// machines have room for a text implement it.
class EpochKeeper : public base::Interface {
public:
    // Reads the record of a machine that is proven ours by its mark and UUID, since a copy of it has the mark
    // too. Two operators that see the same machines choose the same one. Throws ProviderError.
    virtual asio::awaitable<EpochLook> read_epoch(ExpectedUuid expected) = 0;
    // Writes the record, unless the machine was changed since it was read. Throws ProviderError.
    virtual asio::awaitable<void> write_epoch(EpochSlot slot, EpochRecord record) = 0;
};

struct GuestSight {
    bool answers = false;                // true if the guest's agent answered
    std::vector<std::string> addresses;  // at most 16; without loopback and link-local addresses
    std::string obstacle;                // why the agent could not be asked; empty: it was asked
};

// GuestObserver looks into the guest of a running machine, to show how far its boot has come. Backends whose
// guests may have an agent implement it.
class GuestObserver : public base::Interface {
public:
    // Sends one request. Reports errors in GuestSight and never throws ProviderError.
    virtual asio::awaitable<GuestSight> look_at_guest(MachineRecord record) = 0;
};

// HostExaminer examines single hosts of a bare-metal backend.
class HostExaminer : public base::Interface {
public:
    // Examines one NodeSmithHost through its BMC. Reports errors in HostReport and never throws
    // ProviderError.
    virtual asio::awaitable<HostReport> examine_host(std::string host) = 0;
};

struct Leftover {
    MachineRecord record;     // where it is; a claim with the same record may own it
    std::string message;      // what it is, and what a person must do
    bool is_certain = false;  // false: somebody else may still be working on it
    bool is_removal = false;  // a task is destroying it
};

struct Leftovers {
    std::vector<Leftover> found;
    std::vector<std::string> unseen;  // what could not be checked now, and why: it may hide more leftovers
};

// LeftoverFinder finds machines whose creation died half-way. They have no mark yet, so list() omits them and
// the operator must not touch them. They still use resources, so a person should know of them. Some backends
// implement it.
class LeftoverFinder : public base::Interface {
public:
    // Returns only leftovers that nobody works on any longer. Throws ProviderError.
    virtual asio::awaitable<Leftovers> leftovers() = 0;
    // Returns what our tasks are making or destroying now. It is no leftover while a claim owns it; otherwise
    // it may become one. A later list() shows what they have finished by then. Throws ProviderError, also if
    // some of it cannot be seen now.
    virtual asio::awaitable<std::vector<Leftover>> under_way() = 0;
    // Returns machines of that name that were created, but not configured, and that list() omits because
    // nothing but their name shows that they are ours. One that cannot be read has no identity. Throws
    // ProviderError.
    virtual asio::awaitable<std::vector<Machine>> unfinished(std::string name) = 0;
};

// Stray is a machine that another provider of this Kubernetes cluster made.
struct Stray {
    MachineRecord record;
    MachineIdentity identity;  // as in its mark
    std::string removal;       // shell commands for a person to remove it
};

// StrayFinder finds machines of this Kubernetes cluster that other providers of the same backend made. The
// caller must know whether these providers still exist. Backends that several providers may share implement
// it.
class StrayFinder : public base::Interface {
public:
    // Finds strays by their marks and changes nothing. Throws ProviderError.
    virtual asio::awaitable<std::vector<Stray>> strays() = 0;
};

// Stopped means that the machine is off and stays off when its host restarts. It only uses disk space there.
struct Stopped {};
using StopResult = std::variant<Stopped, Gone, RemovalInProgress, RemovalBlocked>;

// Runs means that the machine is running.
struct Runs {};
// WaitsForStart means that the machine is off, and is being started or will be soon.
struct WaitsForStart {
    std::string message;
    base::Duration retry_after{};
};
// NoRoomToStart means that the machine is off, and its host has no room for it now.
struct NoRoomToStart {
    std::string message;
};
// StartFails means that the machine was started several times, but is off again or never came up. A later
// call tries again.
struct StartFails {
    std::string message;
    base::Duration retry_after{};
};
// LeftOff means that somebody switched the machine off, so it stays off.
struct LeftOff {
    std::string message;  // who switched it off, and what to do
};
// HostIsDown means that the machine's host is down for an unknown time. Nothing can be done before it is
// back.
struct HostIsDown {
    std::string message;
};
using RestartResult = std::variant<Runs, WaitsForStart, NoRoomToStart, StartFails, LeftOff, HostIsDown>;

// MachineStarter restarts machines that are off although nobody switched them off, for example after their
// host lost power. Backends that know who switches machines off implement it.
class MachineStarter : public base::Interface {
public:
    // Takes one step towards a running machine. Never touches a machine that is not proven to be this one.
    // Throws ProviderError.
    virtual asio::awaitable<RestartResult> start_again(MachineIdentity identity, MachineRecord record) = 0;
};

// MachineStopper stops a machine and keeps it, so that a person can inspect it. Backends whose machines cost
// little while off implement it.
class MachineStopper : public base::Interface {
public:
    // Takes one step towards a stopped machine; the first step asks the guest to shut down. Never touches a
    // machine that is not proven to be this one, and never stops a machine in use. remove() removes it later.
    // Throws ProviderError.
    virtual asio::awaitable<StopResult> stop(MachineIdentity identity, MachineRecord record,
                                             InUseCheck in_use) = 0;
};

// Dismantler removes what a backend made for itself besides machines. This happens before the provider object
// is removed.
class Dismantler : public base::Interface {
public:
    // Takes one step towards removing everything; afterwards the backend makes nothing new. Returns what is
    // left and why, or an empty text. Throws ProviderError.
    virtual asio::awaitable<std::string> dismantle() = 0;
};

// SessionHolder ends the backend's sessions before the process ends, as some servers allow only a few
// sessions.
class SessionHolder : public base::Interface {
public:
    // Must be the last call to the backend. If it is cancelled half-way, the remaining sessions expire by
    // themselves.
    virtual asio::awaitable<void> end_sessions() = 0;
    // Reports that the backend's Secret has a new version with the same data.
    virtual void follow_credentials(const std::string& version) = 0;
};

// Capabilities has one pointer per ability; null if the backend lacks it. They live as long as the backend.
struct Capabilities {
    Adopter* adopter = nullptr;
    Dismantler* dismantler = nullptr;
    EpochKeeper* epoch_keeper = nullptr;
    GuestObserver* guest_observer = nullptr;
    HostExaminer* host_examiner = nullptr;
    LeftoverFinder* leftover_finder = nullptr;
    MachineStarter* machine_starter = nullptr;
    MachineStopper* machine_stopper = nullptr;
    SessionHolder* session_holder = nullptr;
    StrayFinder* stray_finder = nullptr;
};

}  // namespace providers

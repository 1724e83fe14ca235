// What only some backends can do.
#pragma once

#include <boost/asio/awaitable.hpp>
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
    std::string zone;  // empty: it has none
};
// It is not proven to be that machine, and nothing was changed.
struct NotAdopted {
    std::string message;  // what is missing
};
using AdoptResult = std::variant<Adopted, NotAdopted>;

// Taking over machines that the Go project KubeNodeSmith made: they carry its tag, but no mark of ours.
// Implemented by backends that can.
class Adopter : public base::Interface {
public:
    // Writes the mark of `identity` into the machine called `identity.claim_name`, if it is the only one of
    // that name, has the provider's tag, and has the UUID of `identity`, which its Node reports. Repeatable.
    // Throws ProviderError.
    virtual asio::awaitable<AdoptResult> adopt(MachineIdentity identity) = 0;
};

struct GuestSight {
    bool answers = false;                // its agent did
    std::vector<std::string> addresses;  // none that only the guest itself or its link knows; at most 16
    std::string obstacle;                // why the agent could not be asked; empty: it was
};

// Looking into the guest of a machine that runs, for whoever wants to know how far it came.
// Implemented by backends whose guests may have an agent.
class GuestObserver : public base::Interface {
public:
    // One request. Never throws ProviderError: what is wrong is in the sight.
    virtual asio::awaitable<GuestSight> look_at_guest(MachineRecord record) = 0;
};

// Looking at the hosts of a backend of bare metal, one by one.
class HostExaminer : public base::Interface {
public:
    // Looks at one NodeSmithHost through its BMC. Never throws ProviderError: what is wrong is in the report.
    virtual asio::awaitable<HostReport> examine_host(std::string host) = 0;
};

struct Leftover {
    MachineRecord record;     // where it is; the claim that recorded the same may know of it
    std::string message;      // what it is and what a person has to do
    bool is_certain = false;  // else it may be that somebody is at work on it, unseen
};

struct Leftovers {
    std::vector<Leftover> found;
    std::vector<std::string> unseen;  // what could not be looked at just now, and why: there may be more
    // What a task of ours still makes, for people. A claim's is no leftover; where no claim is left it may be.
    std::vector<std::string> under_way;
};

// Finding what died half-way on its way to become a machine of ours: too young for a mark, so list() does not
// show it and nobody may touch it, but it takes room, and a person should know.
// Implemented by backends where that can be.
class LeftoverFinder : public base::Interface {
public:
    // Only what is not being worked on any more. Throws ProviderError.
    virtual asio::awaitable<Leftovers> leftovers() = 0;
};

// A machine that a provider of this cluster made, other than the one that is asked.
struct Stray {
    MachineRecord record;
    MachineIdentity identity;  // as its mark says
    std::string removal;       // the commands that remove it, for a person
};

// Finding machines of this Kubernetes cluster that other providers of the same backend made. Whether these
// providers still exist is for the caller to know.
// Implemented by backends that several providers may share.
class StrayFinder : public base::Interface {
public:
    // By their marks; changes nothing. Throws ProviderError.
    virtual asio::awaitable<std::vector<Stray>> strays() = 0;
};

// It is off, stays so when its host is restarted, and takes no room there but that of its disks.
struct Stopped {};
using StopResult = std::variant<Stopped, Gone, RemovalInProgress, RemovalBlocked>;

// It runs.
struct Runs {};
// It is off, and is being started or will be soon.
struct WaitsForStart {
    std::string message;
    base::Duration retry_after{};
};
// It is off, and its host has no room for it now.
struct NoRoomToStart {
    std::string message;
};
// It was started several times, and is off again or never came up. It is tried again later.
struct StartFails {
    std::string message;
    base::Duration retry_after{};
};
// Somebody switched it off, so it stays off.
struct LeftOff {
    std::string message;  // who did, and what to do
};
// Its host is down, and nobody knows for how long: nothing can be done before it is back.
struct HostIsDown {
    std::string message;
};
using RestartResult = std::variant<Runs, WaitsForStart, NoRoomToStart, StartFails, LeftOff, HostIsDown>;

// Starting machines again that are off although nobody switched them off: their host lost its power, say.
// Implemented by backends that know who switches machines off.
class MachineStarter : public base::Interface {
public:
    // Takes the machine one step nearer to running. Never touches what does not prove to be this machine.
    // Throws ProviderError.
    virtual asio::awaitable<RestartResult> start_again(MachineIdentity identity, MachineRecord record) = 0;
};

// Stopping a machine that stays, for a person to look into it.
// Implemented by backends whose machines cost little while they are off.
class MachineStopper : public base::Interface {
public:
    // Takes it one step nearer to being off: it is asked to shut down first. Never touches what does not
    // prove to be this machine, nor one that runs and is in use. remove() ends it later. Throws
    // ProviderError.
    virtual asio::awaitable<StopResult> stop(MachineIdentity identity, MachineRecord record,
                                             InUseCheck in_use) = 0;
};

// A backend that makes things for itself, beside machines: they go before its provider's object does.
class Dismantler : public base::Interface {
public:
    // One step towards nothing being left; from then on nothing is made. What is left and why; empty:
    // nothing. Throws ProviderError.
    virtual asio::awaitable<std::string> dismantle() = 0;
};

// A backend that is logged in at servers which have few sessions to give: they are ended before the process
// is.
class SessionHolder : public base::Interface {
public:
    // For the end, when nothing else calls the backend any more. Cancelling half-way leaves sessions that end
    // by themselves after a while.
    virtual asio::awaitable<void> end_sessions() = 0;
    // The Secret of the backend has this version now, with the same data.
    virtual void follow_credentials(const std::string& version) = 0;
};

// Null: this backend cannot; else it lives as long as the backend.
struct Capabilities {
    Adopter* adopter = nullptr;
    Dismantler* dismantler = nullptr;
    GuestObserver* guest_observer = nullptr;
    HostExaminer* host_examiner = nullptr;
    LeftoverFinder* leftover_finder = nullptr;
    MachineStarter* machine_starter = nullptr;
    MachineStopper* machine_stopper = nullptr;
    SessionHolder* session_holder = nullptr;
    StrayFinder* stray_finder = nullptr;
};

}  // namespace providers

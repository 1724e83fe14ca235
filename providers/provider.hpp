// What a backend that makes machines must do. Level-triggered: each call looks at what exists and takes
// at most one step; nothing here waits for minutes. Knows nothing of Kubernetes objects.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <vector>

#include "base/interface.hpp"
#include "providers/capabilities.hpp"
#include "providers/health.hpp"
#include "providers/launch.hpp"
#include "providers/machine.hpp"
#include "providers/offering.hpp"
#include "providers/removal.hpp"

namespace providers {

namespace asio = boost::asio;

// Every method may throw ProviderError; cancelling half-way leaves an outcome that the next call reads back.
class Provider : public base::Interface {
public:
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
    // What it can do beyond this.
    virtual Capabilities capabilities() { return {}; }
};

}  // namespace providers

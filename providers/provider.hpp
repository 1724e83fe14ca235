// Interface of a backend that makes machines. It is level-triggered: each call looks at the current state and
// takes at most one step. No call waits for minutes. It knows no Kubernetes objects.
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

// Every method may throw ProviderError. If a call is cancelled half-way, the next call reads the outcome.
class Provider : public base::Interface {
public:
    // Takes one step towards a running machine and returns its state. If the record is empty, it only chooses
    // host and ID (state placed). It is idempotent for the same identity and record.
    virtual asio::awaitable<EnsureResult> ensure(MachineSpec spec) = 0;
    // Takes one step towards removal. Never touches a machine that is not proven to be this one, and never
    // one that runs and is in use.
    virtual asio::awaitable<RemoveResult> remove(MachineIdentity identity, MachineRecord record,
                                                 InUseCheck in_use) = 0;
    // Removes the mark from a machine that its user keeps, so that it is no longer managed. Returns true when
    // done; otherwise call again. Never touches a machine that is not proven to be this one.
    virtual asio::awaitable<bool> release(MachineIdentity identity, MachineRecord record) = 0;
    // Returns the current machine; nullopt if it verifiably does not exist.
    virtual asio::awaitable<std::optional<Machine>> get(MachineIdentity identity, MachineRecord record) = 0;
    // Returns every machine whose mark names this cluster and provider. A machine that may be ours but could
    // not be read has no identity.
    virtual asio::awaitable<std::vector<Machine>> list() = 0;
    // Returns the hosts and their free capacity. A cache of at most 10 s may answer.
    virtual asio::awaitable<std::vector<HostOffering>> offerings() = 0;
    virtual asio::awaitable<Health> check() = 0;
    // Takes one step towards switching the machine off (hard) or on. Returns true when done; otherwise call
    // again. Never touches a machine that is not proven to be this one, and never switches off one in use.
    virtual asio::awaitable<bool> switch_power(MachineIdentity identity, MachineRecord record, Power power,
                                               InUseCheck in_use) = 0;
    // Detaches and deletes boot data after the Node registered. Returns true when nothing is left.
    virtual asio::awaitable<bool> discard_boot_image(MachineIdentity identity, MachineRecord record) = 0;
    // Returns its optional abilities.
    virtual Capabilities capabilities() { return {}; }
};

}  // namespace providers

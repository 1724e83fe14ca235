// Stopping a machine that stays, for a person to look into it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <variant>

#include "providers/machine.hpp"
#include "providers/removal.hpp"

namespace providers {

namespace asio = boost::asio;

// It is off, stays so when its host is restarted, and takes no room there but that of its disks.
struct Stopped {};
using StopResult = std::variant<Stopped, Gone, RemovalInProgress, RemovalBlocked>;

// Implemented by backends whose machines cost little while they are off.
class MachineStopper {
public:
    MachineStopper() = default;
    MachineStopper(const MachineStopper&) = delete;
    MachineStopper& operator=(const MachineStopper&) = delete;
    virtual ~MachineStopper() = default;

    // Takes it one step nearer to being off: it is asked to shut down first. Never touches what does not
    // prove to be this machine, nor one that runs and is in use. remove() ends it later. Throws
    // ProviderError.
    virtual asio::awaitable<StopResult> stop(MachineIdentity identity, MachineRecord record,
                                             InUseCheck in_use) = 0;
};

}  // namespace providers

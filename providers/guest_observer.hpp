// Looking into the guest of a machine that runs, for whoever wants to know how far it came.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "providers/machine.hpp"

namespace providers {

namespace asio = boost::asio;

struct GuestSight {
    bool answers = false;                // its agent did
    std::vector<std::string> addresses;  // none that only the guest itself or its link knows; at most 16
    std::string obstacle;                // why the agent could not be asked; empty: it was
};

// Implemented by backends whose guests may have an agent.
class GuestObserver {
public:
    GuestObserver() = default;
    GuestObserver(const GuestObserver&) = delete;
    GuestObserver& operator=(const GuestObserver&) = delete;
    virtual ~GuestObserver() = default;

    // One request. Never throws ProviderError: what is wrong is in the sight.
    virtual asio::awaitable<GuestSight> look_at_guest(MachineRecord record) = 0;
};

}  // namespace providers

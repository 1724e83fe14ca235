// Finding what died half-way on its way to become a machine of ours: too young for a mark, so list() does not
// show it and nobody may touch it, but it takes room, and a person should know.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "providers/machine.hpp"

namespace providers {

namespace asio = boost::asio;

struct Leftover {
    MachineRecord record;     // where it is; the claim that recorded the same may know of it
    std::string message;      // what it is and what a person has to do
    bool is_certain = false;  // else it may be that somebody is at work on it, unseen
};

// Implemented by backends where that can be.
class LeftoverFinder {
public:
    LeftoverFinder() = default;
    LeftoverFinder(const LeftoverFinder&) = delete;
    LeftoverFinder& operator=(const LeftoverFinder&) = delete;
    virtual ~LeftoverFinder() = default;

    // Only what is not being worked on any more. Throws ProviderError.
    virtual asio::awaitable<std::vector<Leftover>> leftovers() = 0;
};

}  // namespace providers

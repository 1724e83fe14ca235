// Answers to questions as a Debian guest's agent gives them.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

namespace json = boost::json;

// Answers a command, given without "guest-": ping, info, get-osinfo, ... For an unknown command the guest
// returns an error object, which Proxmox passes on with status 200. The machine must be running.
json::value guest_answer(const Machine& machine, const std::string& command, std::int64_t now);

// Returns the address that the guest's agent reports for net0.
std::string first_address(const Machine& machine);

}  // namespace proxmox_simulator

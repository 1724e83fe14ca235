// What a Debian guest's agent answers to questions.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

namespace json = boost::json;

// `command` without "guest-": ping, info, get-osinfo, ... One the guest does not know yields an error object,
// which Proxmox passes on with status 200. The machine is running.
json::value guest_answer(const Machine& machine, const std::string& command, std::int64_t now);

// The address that the guest's agent tells of net0.
std::string first_address(const Machine& machine);

}  // namespace proxmox_simulator

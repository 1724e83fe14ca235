// Helpers with which the cases of the contract talk to the Proxmox simulator.
#pragma once

#include <string>

#include "test/simulation/contract/proxmox/server.hpp"

namespace contract::proxmox {

// Returns the server of this program.
Server& server();

// Builds a request with the token of the simulator's own world. Parameters in a body are form-encoded.
base::HttpRequest request(const std::string& method, const std::string& path, const std::string& form = "");
Answer call(const std::string& method, const std::string& path, const std::string& form = "");
// Makes a call that starts a task, follows the task to its end, and returns its exit status.
std::string finish(const std::string& method, const std::string& path, const std::string& form = "");
// Returns a VMID that no other machine has.
std::string fresh_vmid();

}  // namespace contract::proxmox

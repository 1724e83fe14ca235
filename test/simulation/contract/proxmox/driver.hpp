// How the cases of the contract speak to the Proxmox simulator.
#pragma once

#include <string>

#include "test/simulation/contract/proxmox/server.hpp"

namespace contract::proxmox {

// The server of this program.
Server& server();

// With the token of the simulator's own world; parameters in a body are form-encoded.
base::HttpRequest request(const std::string& method, const std::string& path, const std::string& form = "");
Answer call(const std::string& method, const std::string& path, const std::string& form = "");
// Makes a call that starts a task, and follows that; returns its exit status.
std::string finish(const std::string& method, const std::string& path, const std::string& form = "");
// A VMID that nothing else has.
std::string fresh_vmid();

}  // namespace contract::proxmox

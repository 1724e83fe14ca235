// The CPU types QEMU offers on Proxmox VE 9.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace proxmox_simulator {

const std::vector<std::string>& cpu_models();
// "host", "max" and models that only emulate: no vendor of their own.
std::string_view cpu_vendor(std::string_view model);

}  // namespace proxmox_simulator

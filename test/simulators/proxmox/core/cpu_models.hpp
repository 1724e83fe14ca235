// The CPU types that QEMU offers on Proxmox VE 9.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace proxmox_simulator {

const std::vector<std::string>& cpu_models();
// Returns the vendor of a CPU model. "host", "max" and models that are only emulated have none.
std::string_view cpu_vendor(std::string_view model);

}  // namespace proxmox_simulator

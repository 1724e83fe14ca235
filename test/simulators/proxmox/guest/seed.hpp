// Finds the data of a guest's cloud-init (the NoCloud data source).
#pragma once

#include <optional>
#include <string>

#include "test/simulators/proxmox/core/hooks.hpp"

namespace proxmox_simulator {

// Returns the files of an ISO 9660 image whose volume label is cidata; nullopt for other images. Throws
// std::runtime_error for an image that can't be read.
std::optional<SeedFiles> read_seed_image(const std::string& image);

// Returns the URL in an SMBIOS serial number like "ds=nocloud;dsmode=net;s=http://host/path/". Returns ""
// where cloud-init 22.4 finds none. Without a mode, cloud-init looks before there is a network. It appends
// names of files directly to the URL.
std::string seed_url(const std::string& smbios_serial);

}  // namespace proxmox_simulator

// Where a guest's cloud-init looks for its data (the NoCloud data source).
#pragma once

#include <optional>
#include <string>

#include "test/simulators/proxmox/core/hooks.hpp"

namespace proxmox_simulator {

// The files of an ISO 9660 image whose volume label is cidata; nullopt for other images. Throws
// std::runtime_error for an image that can't be read.
std::optional<SeedFiles> read_seed_image(const std::string& image);

// The URL in an SMBIOS serial number like "ds=nocloud;dsmode=net;s=http://host/path/"; empty where cloud-init
// 22.4 finds none: without its mode it looks before there is a network, and names of files are put right
// behind the URL.
std::string seed_url(const std::string& smbios_serial);

}  // namespace proxmox_simulator

// Migrates proxmox-autoscaler: settings.py, or the manifests that contain it.
#pragma once

#include <string_view>

#include "migrate/migration.hpp"

namespace kubenodesmith::migrate {

// Throws std::invalid_argument with the key and its correction.
Migration migrate_proxmox_autoscaler(std::string_view text, const Names& names);

}  // namespace kubenodesmith::migrate

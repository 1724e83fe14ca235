// Migrates kproximate of any version: Helm values, its environment as a file, or its ConfigMap and Secret.
#pragma once

#include <string_view>

#include "migrate/migration.hpp"

namespace kubenodesmith::migrate {

// Throws std::invalid_argument with the key and its correction.
Migration migrate_kproximate(std::string_view text, const Names& names);

}  // namespace kubenodesmith::migrate

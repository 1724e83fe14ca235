// Migrates the YAML configuration of KubeNodeSmith from before its CRDs (schemaVersion v1alpha1).
#pragma once

#include <string_view>

#include "migrate/migration.hpp"

namespace kubenodesmith::migrate {

// Throws std::invalid_argument with the key and its correction.
Migration migrate_kubenodesmith(std::string_view text, const Names& names);

}  // namespace kubenodesmith::migrate

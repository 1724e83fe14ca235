// Converts another autoscaler's configuration into our resources.
#pragma once

#include <string>
#include <string_view>

#include "migrate/draft.hpp"
#include "migrate/report.hpp"

namespace kubenodesmith::migrate {

struct Names {
    std::string namespace_ = "kubenodesmith";
    std::string name = "proxmox";  // of the Provider if the source has none
};

struct Migration {
    Draft draft;
    Report report;
};

// Migrates the YAML configuration of KubeNodeSmith from before its CRDs (schemaVersion v1alpha1). All three
// throw std::invalid_argument with the key and its correction.
Migration migrate_kubenodesmith(std::string_view text, const Names& names);

// Migrates kproximate of any version: Helm values, its environment as a file, or its ConfigMap and Secret.
Migration migrate_kproximate(std::string_view text, const Names& names);

// Migrates proxmox-autoscaler: settings.py, or the manifests that contain it.
Migration migrate_proxmox_autoscaler(std::string_view text, const Names& names);

}  // namespace kubenodesmith::migrate

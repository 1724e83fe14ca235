// Turning another autoscaler's configuration into our resources.
#pragma once

#include <string>
#include <string_view>

#include "migrate/draft.hpp"
#include "migrate/report.hpp"

namespace kubenodesmith::migrate {

struct Names {
    std::string namespace_ = "kubenodesmith";
    std::string name = "proxmox";  // of the Provider where the source has none
};

struct Migration {
    Draft draft;
    Report report;
};

// The YAML configuration of KubeNodeSmith before it had CRDs (schemaVersion v1alpha1).
// All three throw std::invalid_argument that names the key and what would be right.
Migration migrate_kubenodesmith(std::string_view text, const Names& names);

// kproximate, all lines: Helm values, its environment as a file, or its ConfigMap and Secret.
Migration migrate_kproximate(std::string_view text, const Names& names);

// proxmox-autoscaler: settings.py, or the manifests that hold it.
Migration migrate_proxmox_autoscaler(std::string_view text, const Names& names);

}  // namespace kubenodesmith::migrate

// The resources that a migration writes, while they are being built.
#pragma once

#include <map>
#include <string>

#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "migrate/report.hpp"

namespace kubenodesmith::migrate {

// Draft has providers, pools and Secrets by their names in the source ("" if it has one without a name).
struct Draft {
    std::map<std::string, api::v1alpha1::NodeSmithProvider> providers;
    std::map<std::string, api::v1alpha1::NodeSmithPool> pools;
    api::v1alpha1::NodeSmithControlPlane control_plane;  // written once into each namespace that has pools
    std::map<std::string, std::map<std::string, std::string>> secrets;  // name -> key -> value

    api::v1alpha1::NodeSmithProvider& provider(const std::string& name = "") { return providers[name]; }
    api::v1alpha1::NodeSmithPool& pool(const std::string& name = "") { return pools[name]; }
    // Returns spec.proxmox of a provider, made on first use.
    api::v1alpha1::ProxmoxSpec& proxmox(const std::string& name = "");
    api::v1alpha1::Template& template_of(const std::string& name = "");
    api::v1alpha1::CloudInit& cloud_init(const std::string& name = "");
    // Returns spec.bootstrap of a pool, made on first use.
    api::v1alpha1::Bootstrap& bootstrap(const std::string& name = "");
};

// Returns the resources as YAML documents. Fields with their default are omitted. Secrets are included only
// if requested, with their values in plain text.
std::string yaml_of(const Draft& draft, bool with_secrets);

// Returns instructions to make a Secret that yaml_of omitted. They contain its keys, but not its values.
std::string instruction_for(const Draft& draft, const std::string& namespace_, const std::string& name);

}  // namespace kubenodesmith::migrate

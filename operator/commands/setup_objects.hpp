// The choices of setup proxmox, and the manifests that use what it made. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>

#include "providers/proxmox_setup.hpp"

namespace kubenodesmith {

struct SetupObjects {
    std::string namespace_ = "kubenodesmith";
    std::string secret = "proxmox";
    std::string provider = "proxmox";
    std::string pool = "workers";
    std::string join = "CloudInit";  // bootstrap.method
    std::string format;              // bootstrap.format; empty: the default
    std::string api_server;          // bootstrap.apiServerEndpoint; empty: from the cluster
    std::string image_url;           // templates are made of it; empty: machines are cloned from a template
    std::string image_checksum;
    std::string user_data_secret;  // key user-data of that Secret; empty: none
    std::string vmid_range;        // LOWER-UPPER; empty: any
    std::int64_t boot_disk_gib = 20;
    std::int64_t max_nodes = 3;
};

// Checks what the wish names against the site, and chooses what it leaves open if there is only one choice.
// Throws UsageError that lists the choices.
providers::ProxmoxSetup chosen_setup(providers::ProxmoxSetup wish, const providers::ProxmoxSite& site,
                                     const SetupObjects& objects);

// Returns what was found, for people.
std::string describe(const providers::ProxmoxSite& site);

boost::json::object secret_of(const SetupObjects& objects, const std::string& token_id,
                              const std::string& token_secret);
// `wish` is the chosen one; `tls` is spec.proxmox.tls. Throws UsageError for a range that is none.
boost::json::object provider_of(const SetupObjects& objects, const providers::ProxmoxSetup& wish,
                                const std::string& endpoint, boost::json::object tls);
boost::json::object pool_of(const SetupObjects& objects);

}  // namespace kubenodesmith

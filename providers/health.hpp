// Health of a backend with its current configuration.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/clock.hpp"
#include "providers/backend_cluster.hpp"

namespace providers {

// Key for a template that serves every host, both here and in the provider's status.
inline constexpr const char* kAllHosts = "*";

// Health is the result of a health check.
struct Health {
    bool credentials_ok = false;
    bool reachable = false;
    std::string reason;   // CamelCase; empty: healthy. Unreachable, NoQuorum, OtherCluster,
                          // AuthenticationFailed, MissingPrivileges, TLSVerificationFailed
    std::string message;  // says what is wrong and how to correct it
    std::string version;
    // The cluster that answers, even if it is refused as another cluster. Its name is empty if it is not
    // visible.
    BackendCluster cluster;
    // State of the template, for backends that clone one. The reason is empty if the template exists or none
    // is configured.
    std::string template_reason;  // TemplateNotFound, TemplateAmbiguous, ImagePreparing, ImageFailed
    std::string template_message;
    // Revisions of the templates by host (kAllHosts: one for all). A new revision means another template or
    // new content.
    std::map<std::string, std::string> template_revisions;
    std::int64_t boot_disk_gib = 0;  // boot disk size of new machines; 0: unknown
    // Part of the configuration that cannot work on any host (e.g. a missing storage), and its correction. It
    // is empty if no such fault is visible.
    std::string configuration_fault;
    // Rights that are missing only for one way of joining, and how to grant them. Empty: no right is missing.
    std::string boot_image_obstacle;   // for joining through our boot images
    std::string guest_agent_obstacle;  // for joining through the guest agent
    // Storages for machine disks that are nearly full, and what to do. Empty: no storage is.
    std::string storage_low;
    // Time until the next check, set while the backend itself is doing work. 0: at the usual interval.
    base::Duration look_again_after{};
    std::string not_visible;  // what could not be checked, and how to make it visible; empty: nothing
};

}  // namespace providers

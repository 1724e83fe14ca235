// Whether a backend can work as it is configured.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/clock.hpp"
#include "providers/backend_cluster.hpp"

namespace providers {

// The host of a template that serves every host, here and in the provider's status.
inline constexpr const char* kAllHosts = "*";

// What the backend is asked to prove on a health check.
struct Health {
    bool credentials_ok = false;
    bool reachable = false;
    std::string reason;   // CamelCase when not ok: Unreachable, AuthenticationFailed, MissingPrivileges,
                          // TLSVerificationFailed, NoQuorum, OtherCluster; empty: it is
    std::string message;  // what is wrong and what would be right
    std::string version;
    // The cluster that answers, also where it is refused as another one. Its name is empty if it is not
    // visible.
    BackendCluster cluster;
    // Of backends that make machines from a template: whether it is there. Reason empty: it is, or none is
    // configured.
    std::string template_reason;  // TemplateNotFound, TemplateAmbiguous, ImagePreparing, ImageFailed
    std::string template_message;
    // Of the templates found, by host (kAllHosts: one for all). Another revision is another template, or
    // other content.
    std::map<std::string, std::string> template_revisions;
    std::int64_t boot_disk_gib = 0;  // of the machines that are made; 0: not known
    // What of the configuration can work on no host (a storage that does not exist), with what would be
    // right. Empty: nothing that is visible.
    std::string configuration_fault;
    // What of rights is missing that only machines need which join so, with what would be right; empty:
    // nothing.
    std::string boot_image_obstacle;   // by boot images of ours
    std::string guest_agent_obstacle;  // by their guest agent
    // Storages for disks of machines that are about to be full, with what to do; empty: none is.
    std::string storage_low;
    // Work of the backend's own is under way: ask again after that long. 0: whenever it is due.
    base::Duration look_again_after{};
    std::string not_visible;  // what of it could not be checked, and what that would take; empty: nothing
};

}  // namespace providers

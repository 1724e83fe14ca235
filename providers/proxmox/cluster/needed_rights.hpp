// What the configured machines need of rights, each with what it is for, and what of it the token lacks.
// Pure.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "providers/proxmox/cluster/permissions.hpp"
#include "providers/proxmox/config/settings.hpp"
#include "providers/proxmox/config/vm_config.hpp"

namespace providers::proxmox {

struct MissingPrivilege {
    std::string path;
    std::string privilege;
    std::string purpose;  // "to start and stop machines"
    bool operator==(const MissingPrivilege&) const = default;
};

// Of a template: what clones of it take part in.
struct TemplateParts {
    std::int64_t vmid = 0;
    std::set<std::string> disk_storages;
    std::set<std::string> drives;      // of which clones get copies
    std::set<std::string> interfaces;  // values of its net options
    Tags tags;
    bool has_cloud_init_drive = false;
};
TemplateParts parts_of_template(std::int64_t vmid, const VmConfig& config);

// Who may give which tags, by the datacenter's options; what does not show without Sys.Audit on / is taken
// for allowed.
struct TagRules {
    std::string user_allow = "free";  // none, list, existing, free
    std::set<std::string> allowed;
    std::set<std::string> registered;  // for administrators only

    // Of GET /cluster/options.
    static TagRules parse(const boost::json::value& options);
    bool allows(const std::string& tag) const;
};

struct Surroundings {
    int major_version = 0;                 // of Proxmox VE: SDN.Use came with 8
    std::vector<TemplateParts> templates;  // those that machines are cloned from
    std::vector<std::string> hosts;        // on which machines may be placed
    // Of an image: where it is downloaded to.
    std::set<std::string> download_storages;
    TagRules tags;
};

// Where the rights on VMs must be: the resource pool, if there is one, else all VMs.
std::string vm_path(const Settings& settings);

// What every machine needs.
std::vector<MissingPrivilege> missing_privileges(const Settings& settings, const Permissions& permissions,
                                                 const Surroundings& surroundings);
// Whether the token sees every volume on the storage: Proxmox leaves the others out of its lists.
bool sees_all_volumes(const Permissions& permissions, const std::string& storage);
// What boot images on that storage need beyond that.
std::vector<MissingPrivilege> missing_image_privileges(const Settings& settings,
                                                       const Permissions& permissions,
                                                       const std::string& storage);
// What joining machines through their guest agents needs beyond that, in the words of Proxmox VE 9;
// VM.Monitor, which older ones have in their place, will do.
std::vector<MissingPrivilege> missing_agent_privileges(const Settings& settings,
                                                       const Permissions& permissions);
// The same for giving MAC addresses to a template's interfaces.
std::vector<MissingPrivilege> missing_network_privileges(const Settings& settings,
                                                         const Permissions& permissions);
// What stands behind such a list.
inline constexpr const char* kNeededByNetworks =
    ": a network configuration for a template's interfaces needs it";
inline constexpr const char* kNeededByImages = ": bootstrap.method CloudInit with boot images needs it";
inline constexpr const char* kNeededByAgent =
    " (before Proxmox VE 9: VM.Monitor): bootstrap.method GuestAgent needs it";
// "VM.Allocate on /vms (to make and remove machines), ...".
std::string list_text(const std::vector<MissingPrivilege>& missing);
// Returns "USER lacks" that list, with what stands behind it, and the commands that grant it; empty if
// nothing is missing.
std::string lack_text(const std::string& user, const Permissions& permissions,
                      const std::vector<MissingPrivilege>& missing, const std::string& behind);

}  // namespace providers::proxmox

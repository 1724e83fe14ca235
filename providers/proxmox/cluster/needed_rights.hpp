// Rights that the configured machines need, each with its purpose, and the ones that the token lacks. Pure.
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
    std::string purpose;  // for example "to start and stop machines"
    bool operator==(const MissingPrivilege&) const = default;
};

// TemplateParts are the parts of a template that matter to its clones.
struct TemplateParts {
    std::int64_t vmid = 0;
    std::set<std::string> disk_storages;
    std::set<std::string> drives;      // drives that clones copy
    std::set<std::string> interfaces;  // values of its net options
    Tags tags;
    bool has_cloud_init_drive = false;
};
TemplateParts parts_of_template(std::int64_t vmid, const VmConfig& config);

// TagRules say who may set which tags, from the datacenter's options. Rules that are hidden without Sys.Audit
// on / count as permissive.
struct TagRules {
    std::string user_allow = "free";  // none, list, existing, free
    std::set<std::string> allowed;
    std::set<std::string> registered;  // only administrators may set these

    // Parses GET /cluster/options.
    static TagRules parse(const boost::json::value& options);
    bool allows(const std::string& tag) const;
};

struct Surroundings {
    int major_version = 0;                 // of Proxmox VE: SDN.Use exists since 8
    std::vector<TemplateParts> templates;  // templates of the machines
    std::vector<std::string> hosts;        // hosts for machines
    // Storages that an image is downloaded to.
    std::set<std::string> download_storages;
    TagRules tags;
};

// Returns the path of the rights on VMs: the resource pool if there is one, else all VMs.
std::string vm_path(const Settings& settings);

// Returns the missing rights that every machine needs.
std::vector<MissingPrivilege> missing_privileges(const Settings& settings, const Permissions& permissions,
                                                 const Surroundings& surroundings);
// Reports whether the token sees every volume on the storage. Proxmox omits the others from its lists.
bool sees_all_volumes(const Permissions& permissions, const std::string& storage);
// Returns the additional missing rights for boot images on that storage, for clones of these templates.
std::vector<MissingPrivilege> missing_image_privileges(const Settings& settings,
                                                       const Permissions& permissions,
                                                       const std::string& storage,
                                                       const std::vector<TemplateParts>& templates = {});
// Returns the additional missing rights for joining through guest agents, as that version of Proxmox VE names
// them; 0: unknown. Versions before 9 have VM.Monitor alone, and refuse a role with the later privileges.
std::vector<MissingPrivilege> missing_agent_privileges(const Settings& settings,
                                                       const Permissions& permissions, int major_version);
// Returns the additional missing rights for setting MAC addresses of a template's interfaces.
std::vector<MissingPrivilege> missing_network_privileges(const Settings& settings,
                                                         const Permissions& permissions);
// Text after such a list.
inline constexpr const char* kNeededByNetworks =
    ": a network configuration for a template's interfaces needs it";
inline constexpr const char* kNeededByImages = ": bootstrap.method CloudInit with boot images needs it";
inline constexpr const char* kNeededByAgent = ": bootstrap.method GuestAgent needs it";
// Returns, for example, "VM.Allocate on /vms (to make and remove machines), ...".
std::string list_text(const std::vector<MissingPrivilege>& missing);
// Returns "USER lacks" with that list, the text `behind`, and the commands that grant the rights. It is empty
// if nothing is missing.
std::string lack_text(const std::string& user, const Permissions& permissions,
                      const std::vector<MissingPrivilege>& missing, const std::string& behind);

}  // namespace providers::proxmox

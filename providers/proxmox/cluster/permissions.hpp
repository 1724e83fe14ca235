// The token's own rights, and what they lack. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <vector>

#include "providers/proxmox/cluster/cluster_state.hpp"
#include "providers/proxmox/config/settings.hpp"

namespace providers::proxmox {

class Permissions {
public:
    // Of GET /access/permissions: privileges by path, 1 if they hold below it as well.
    static Permissions parse(const boost::json::value& data);

    // Rights on a deeper path replace those from above, as in Proxmox.
    bool has(const std::string& path, const std::string& privilege) const;

private:
    std::map<std::string, std::map<std::string, bool>> by_path_;
};

struct MissingPrivilege {
    std::string path;
    std::string privilege;
    bool operator==(const MissingPrivilege&) const = default;
};

// Where the rights on VMs must be: the resource pool, if there is one, else all VMs.
std::string vm_path(const Settings& settings);

// What the configured machines need and the token lacks. `major_version` of Proxmox VE: SDN.Use came with 8.
// `templates`: those that machines are cloned from.
std::vector<MissingPrivilege> missing_privileges(const Settings& settings, const Permissions& permissions,
                                                 int major_version, const std::vector<Guest>& templates = {});
// What joining machines through their guest agents needs beyond that, in the words of Proxmox VE 9;
// VM.Monitor, which older ones have in their place, will do.
std::vector<MissingPrivilege> missing_agent_privileges(const Settings& settings,
                                                       const Permissions& permissions);
// "VM.Allocate on /vms, SDN.Use on /sdn/zones/localnetwork/vmbr0".
std::string list_text(const std::vector<MissingPrivilege>& missing);

}  // namespace providers::proxmox

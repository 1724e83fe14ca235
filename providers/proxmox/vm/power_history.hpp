// Finds who switched a VM off, from the task logs of hosts. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <string>

namespace providers::proxmox {

// Last boot of each host, in seconds since 1970. Hosts that do not show it are absent.
using Boots = std::map<std::string, std::int64_t>;

// Returns the user of the last task that switched the VM off, unless a later task switched it on. Empty: it
// went off by itself, with its host, for a backup, or through us (`own_user`). `tasks` are the VM's tasks.
// `host_tasks` are those that end all guests of a host, and backups. The first kind runs before a host goes
// down or on request of a person: only a host that booted afterwards did go down.
std::string switched_off_by(const boost::json::value& tasks, const boost::json::value& host_tasks,
                            const std::string& own_user, const Boots& boots);

}  // namespace providers::proxmox

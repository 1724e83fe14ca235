// Who had a VM switched off, as the task logs of hosts tell. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <string>

namespace providers::proxmox {

// When hosts were started last, in seconds since 1970; a host that does not show it is left out.
using Boots = std::map<std::string, std::int64_t>;

// Returns the user of the last task that switched the VM off, if nothing switched it on since. Empty: it went
// off by itself, with its host, or by ourselves (`own_user`). `tasks` are those of the VM. `host_shutdowns`
// end all guests of a host, before it goes down or as a person has it done: only a host that was started
// since did go down.
std::string switched_off_by(const boost::json::value& tasks, const boost::json::value& host_shutdowns,
                            const std::string& own_user, const Boots& boots);

}  // namespace providers::proxmox

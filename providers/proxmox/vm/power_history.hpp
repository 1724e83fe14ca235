// Who had a VM switched off, as the task log of its host tells. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace providers::proxmox {

// The user of the last task that switched the VM off, if nothing switched it on since; empty: it went off by
// itself, with its host, or by ourselves (`own_user`). `tasks` are those of the VM, `host_shutdowns` those
// that end all guests of its host before that goes down.
std::string switched_off_by(const boost::json::value& tasks, const boost::json::value& host_shutdowns,
                            const std::string& own_user);

}  // namespace providers::proxmox

// The state of a Proxmox task. "200 and a UPID" is no success: only the exit status tells. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace providers::proxmox {

enum class TaskOutcome {
    running,
    succeeded,  // "OK", or "WARNINGS: n", which Proxmox counts as success
    failed,     // the text says why; what it had made is cleaned up
    unknown,    // its worker died or nothing is known of it: look at the VM
};

struct TaskStatus {
    TaskOutcome outcome = TaskOutcome::unknown;
    std::string exit_status;  // as Proxmox gives it
    bool has_warnings = false;
};

// Of GET /nodes/{node}/tasks/{upid}/status.
TaskStatus parse_task_status(const boost::json::value& data);

}  // namespace providers::proxmox

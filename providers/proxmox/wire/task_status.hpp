// The state of a Proxmox task. "200 and a UPID" is no success: only the exit status tells. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "providers/proxmox/wire/proxmox_error.hpp"

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
    std::string cause;  // of a failure, from the task's log; empty: not asked for, or it shows none

    // Of a failure, with its cause: fit for a condition.
    std::string complaint() const;
    // What the failure means, by its exit status or, where that only names what failed, its cause.
    ErrorKind failure() const;
};

// What of GET /nodes/{node}/tasks/{upid}/log says why the task failed: the last lines that sound like it,
// without addresses, which may be boot data's. Empty if there are none, or the exit status says the same.
std::string cause_in(const boost::json::value& log, const std::string& exit_status);

// Of GET /nodes/{node}/tasks/{upid}/status.
TaskStatus parse_task_status(const boost::json::value& data);

}  // namespace providers::proxmox

// The state of a Proxmox task. "200 and a UPID" is no success; only the exit status decides. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "providers/proxmox/wire/proxmox_error.hpp"

namespace providers::proxmox {

enum class TaskOutcome {
    running,
    succeeded,  // "OK", or "WARNINGS: n", which Proxmox also counts as success
    failed,     // the text says why; Proxmox removed what it had made
    unknown,    // its worker died or nothing is known about it: look at the VM
};

struct TaskStatus {
    TaskOutcome outcome = TaskOutcome::unknown;
    std::string exit_status;  // unmodified
    bool has_warnings = false;
    std::string cause;  // cause of a failure, from the task's log; empty: not read, or not in the log

    // Returns the failure and its cause, fit for a condition.
    std::string complaint() const;
    // Classifies the failure by its exit status. If that only names the failed step, the cause decides.
    ErrorKind failure() const;
};

// Returns the cause of a failure from GET /nodes/{node}/tasks/{upid}/log: the last lines that sound like one.
// Addresses are removed, as they may be those of boot data. It is empty if there are no such lines, or if the
// exit status says the same.
std::string cause_in(const boost::json::value& log, const std::string& exit_status);

// Parses GET /nodes/{node}/tasks/{upid}/status.
TaskStatus parse_task_status(const boost::json::value& data);

}  // namespace providers::proxmox

#include "providers/proxmox/wire/task_status.hpp"

#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/proxmox_error.hpp"

namespace providers::proxmox {

TaskStatus parse_task_status(const json::value& data) {
    TaskStatus status;
    if (!data.is_object()) return status;
    const auto& fields = data.get_object();
    status.exit_status = text_of(fields, "exitstatus");
    if (text_of(fields, "status") == "running") {
        status.outcome = TaskOutcome::running;
    } else if (status.exit_status == "OK") {
        status.outcome = TaskOutcome::succeeded;
    } else if (status.exit_status.starts_with("WARNINGS:")) {
        status.outcome = TaskOutcome::succeeded;
        status.has_warnings = true;
    } else if (!status.exit_status.empty() &&
               classify_exit(status.exit_status) != ErrorKind::outcome_unknown) {
        status.outcome = TaskOutcome::failed;
    }
    return status;
}

}  // namespace providers::proxmox

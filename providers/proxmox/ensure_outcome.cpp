#include "providers/proxmox/ensure_outcome.hpp"

#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

namespace {

// Returns the reason if Proxmox refused a change and repeating it cannot help; nullptr: the call was no such
// change.
const char* reason_of_refusal(const std::string& operation) {
    if (operation == "create_vm") return "CreateFailed";
    if (operation == "clone_vm") return "CloneFailed";
    if (operation == "resize_disk") return "ResizeFailed";
    if (operation == "upload_iso") return "BootImageFailed";
    if (operation == "configure_vm") return "ConfigureFailed";
    if (operation == "start_vm") return "StartFailed";
    if (operation.starts_with("agent_")) return "GuestAgentFailed";
    return nullptr;
}

}  // namespace

std::string waiting_for(const std::string& upid) {
    const auto task = parse_upid(upid);
    return task ? "waiting for task " + task->type + " on host " + task->node : "waiting for task " + upid;
}

EnsureResult not_ready(const ProxmoxError& error, base::Duration retry_after) {
    return NotReady{error.what(), retry_after};
}

EnsureResult attempt_failed(std::string reason, std::string message, bool avoid_host) {
    return AttemptFailed{std::move(reason), std::move(message), avoid_host};
}

std::optional<EnsureResult> outcome_of(const ProxmoxError& error) {
    if (is_passing(error.kind)) return not_ready(error, kRetry);
    switch (error.kind) {
        case ErrorKind::permission:
        case ErrorKind::unauthenticated:
            return not_ready(error, kPersonRetry);  // a person has to act
        case ErrorKind::not_found:
            return not_ready(error, kRetry);  // it was removed between two requests
        default:
            break;
    }
    const auto* reason = reason_of_refusal(error.operation);
    if (!reason) return std::nullopt;
    AttemptFailed failed{reason, error.what(), error.kind != ErrorKind::invalid_request};
    failed.is_excused = lacks_disk_room(error.kind, error.what());
    return failed;
}

}  // namespace providers::proxmox

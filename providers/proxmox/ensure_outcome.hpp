// Meaning of an answer of Proxmox for the attempt to make a machine. Pure.
#pragma once

#include <optional>
#include <string>

#include "providers/launch.hpp"
#include "providers/proxmox/wire/proxmox_error.hpp"

namespace providers::proxmox {

inline constexpr base::Duration kRetry = std::chrono::seconds{3};
inline constexpr base::Duration kPersonRetry = std::chrono::seconds{30};  // a person has to act

// Returns the message about a machine while its task runs.
std::string waiting_for(const std::string& upid);
EnsureResult not_ready(const ProxmoxError& error, base::Duration retry_after);
EnsureResult attempt_failed(std::string reason, std::string message, bool avoid_host);
// Returns nullopt if the error is not an expected outcome.
std::optional<EnsureResult> outcome_of(const ProxmoxError& error);

}  // namespace providers::proxmox

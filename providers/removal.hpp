// Results of one step towards the removal of a machine, and the check before it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>
#include <variant>

#include "base/clock.hpp"

namespace providers {

namespace asio = boost::asio;

// Called directly before a running machine is ended. It reports whether the machine is in use, as that may
// have changed while the provider was waiting. Empty: the machine is known to be unused. If it throws,
// nothing is ended.
using InUseCheck = std::function<asio::awaitable<bool>()>;
inline constexpr const char* kInUseAfterAll = "the machine is in use after all and left alone";

// RemovalInProgress means that the removal continues: call again after retry_after.
struct RemovalInProgress {
    std::string message;
    std::string task;
    base::Duration retry_after = std::chrono::seconds{1};
};
// Gone means that the machine is verified not to exist, or no longer.
struct Gone {};
// RemovalBlocked means that the machine is not provably ours or its host does not answer. Nothing was
// changed.
struct RemovalBlocked {
    std::string reason;  // CamelCase: OwnershipMismatch, HostUnreachable, ProtectionEnabled, Locked, ...
    std::string message;
    base::Duration retry_after = std::chrono::seconds{30};
};
using RemoveResult = std::variant<Gone, RemovalInProgress, RemovalBlocked>;

}  // namespace providers

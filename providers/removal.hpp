// What comes of one step towards the end of a machine, and what is asked before.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>
#include <variant>

#include "base/clock.hpp"

namespace providers {

namespace asio = boost::asio;

// Asked right before a running machine is told to end: whether it is in use after all, as it may be since the
// provider was waited for. Empty: it is known not to be. May throw, and then nothing is ended.
using InUseCheck = std::function<asio::awaitable<bool>()>;
inline constexpr const char* kInUseAfterAll = "the machine is in use after all and left alone";

// Removal is under way; call again after retry_after.
struct RemovalInProgress {
    std::string message;
    std::string task;
    base::Duration retry_after = std::chrono::seconds{1};
};
// The machine is verified not to exist (any more).
struct Gone {};
// What stands there is not provably ours, or its host does not answer: nothing was touched.
struct RemovalBlocked {
    std::string reason;  // CamelCase: OwnershipMismatch, HostUnreachable, ProtectionEnabled, Locked, ...
    std::string message;
    base::Duration retry_after = std::chrono::seconds{30};
};
using RemoveResult = std::variant<Gone, RemovalInProgress, RemovalBlocked>;

}  // namespace providers

// Whether the admission policies of config/admission hold this operator. It works without them; then whoever
// may write the status of its objects can mislead it, and its own token is worth more than it should be.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "base/clock.hpp"
#include "kube/client.hpp"

namespace kubenodesmith {

// An admission policy refused a request, rather than RBAC or the API itself.
bool is_policy_refusal(const kube::ApiError& error);

// Has the API server pretend, once an hour, to make a Secret that the policies forbid (dryRun, so nothing is
// made). Says in the log and by a metric what came of it. Runs until it is cancelled.
kube::asio::awaitable<void> watch_admission_policies(kube::Client& client, base::Clock& clock);

}  // namespace kubenodesmith

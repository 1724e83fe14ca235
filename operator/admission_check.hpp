// Checks whether the admission policies of config/admission restrict this operator. It works without them.
// But then anybody who may write the status of its objects can mislead it. Its token also has more rights
// than necessary.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "base/clock.hpp"
#include "kube/client.hpp"

namespace kubenodesmith {

// Reports whether an admission policy refused a request, rather than RBAC or the API itself.
bool is_policy_refusal(const kube::ApiError& error);

// Sends, once an hour, a Secret that the policies forbid, as a dry run that creates nothing. Reports the
// result in the log and by a metric. Runs until it is cancelled.
kube::asio::awaitable<void> watch_admission_policies(kube::Client& client, base::Clock& clock);

}  // namespace kubenodesmith

// Checks, before any watch begins, that the API server answers and has our kinds.
#pragma once

#include <functional>
#include <string>

#include "base/clock.hpp"
#include "kube/client.hpp"

namespace kubenodesmith {

// Returns when all five kinds are served. Until then it reports what is missing and what to do, through
// `waiting` and the log (once per changed message). It tries again every 2 to 30 s.
kube::asio::awaitable<void> wait_for_api(kube::Client& client, base::Clock& clock,
                                         std::function<void(const std::string&)> waiting);

// Returns which of our kinds an APIResourceList (GET /apis/GROUP/VERSION) lacks, as plural names.
std::vector<std::string> missing_kinds(const kube::json::value& resource_list);

}  // namespace kubenodesmith

// Who may read a page of the operator: the API server knows who a bearer token is (TokenReview) and what that
// user may do (SubjectAccessReview of a non-resource URL), as with the metrics of other operators. What it
// said is remembered for a while (verdicts.hpp).
#pragma once

#include "base/clock.hpp"
#include "base/http_server.hpp"
#include "kube/client.hpp"

namespace kubenodesmith {

// Answers 401 without a valid token, 403 without the right; passes on the rest. Who was never allowed
// anything waits in a queue apart from those who were. A failure to ask the API server is thrown. `client`
// and `clock` must outlive it.
base::HttpHandler guarded(base::HttpHandler inner, kube::Client& client, base::asio::any_io_executor executor,
                          base::Clock& clock);

}  // namespace kubenodesmith

// Who may read a page of the operator: the API server knows who a bearer token is (TokenReview) and what that
// user may do (SubjectAccessReview of a non-resource URL), as with the metrics of other operators.
#pragma once

#include "base/http_server.hpp"
#include "kube/client.hpp"

namespace kubenodesmith {

// Answers 401 without a valid token, 403 without the right, 429 while too many ask at once; passes on the
// rest. A failure to ask the API server is thrown. `client` must outlive it.
base::HttpHandler guarded(base::HttpHandler inner, kube::Client& client);

}  // namespace kubenodesmith

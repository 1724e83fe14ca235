// The ports on which the operator listens, and how much of it anybody who reaches them can have. None takes a
// body. Together they leave more than half of 1,024 file descriptors to the API server and hypervisors.
#pragma once

#include "base/http_server.hpp"

namespace kubenodesmith {

// Each connection is for one short answer.
base::HttpServerOptions probe_port();
// Scrapers ask again and again on one connection; pages may be long.
base::HttpServerOptions metrics_port();
// As many machines as start at a time fetch theirs, maybe all behind one address; some BMCs do it slowly and
// block by block.
base::HttpServerOptions boot_data_port();

}  // namespace kubenodesmith

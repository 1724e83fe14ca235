// The operator's ports, and limits for any client that can reach them. No port accepts a body. Together they
// leave more than half of 1,024 file descriptors to the API server and hypervisors.
#pragma once

#include "base/http_server.hpp"

namespace kubenodesmith {

// Each connection is for one short answer.
base::HttpServerOptions probe_port();
// Scrapers reuse one connection; pages may be long.
base::HttpServerOptions metrics_port();
// All machines that start together fetch their data, perhaps from one address. Some BMCs fetch it slowly,
// block by block.
base::HttpServerOptions boot_data_port();

}  // namespace kubenodesmith

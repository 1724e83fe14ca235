// The transport to the API server. It adds our credentials to each request, and notices when they change.
#pragma once

#include <memory>

#include "base/clock.hpp"
#include "base/http.hpp"
#include "kube/config.hpp"

namespace kube {

// Returns a transport that authenticates each request and reads rotating credentials again. Files are read
// every minute and after a 401; exec plugins run when their credential expires and after a 401. Throws
// ConfigError if a certificate, key or URL is unusable now.
std::unique_ptr<base::HttpTransport> make_transport(asio::any_io_executor executor, base::Clock& clock,
                                                    ClusterConfig config);

}  // namespace kube

#include "operator/ports.hpp"

namespace kubenodesmith {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

base::HttpServerOptions port_without_bodies() {
    base::HttpServerOptions options;
    options.max_body_bytes = 0;
    options.defers_accept = true;
    options.request_timeout = seconds{10};
    // The system's buffers for a peer that does not read count as the operator's memory, too.
    options.socket_buffer_bytes = 16 * kKiB;
    return options;
}

}  // namespace

base::HttpServerOptions probe_port() {
    auto options = port_without_bodies();
    options.max_connections = 96;
    options.max_connections_of_client = 64;
    options.max_requests = 1;
    options.max_age = options.idle_timeout = options.answer_timeout = seconds{10};
    options.max_unread_bytes = kMiB;
    return options;
}

base::HttpServerOptions metrics_port() {
    auto options = port_without_bodies();
    options.max_connections = 64;
    options.max_connections_of_client = 48;
    options.max_requests = 1000;
    options.max_age = minutes{10};
    options.max_unread_bytes = 32 * kMiB;
    return options;
}

base::HttpServerOptions boot_data_port() {
    auto options = port_without_bodies();
    options.max_connections = 256;
    options.max_connections_of_client = 192;
    options.max_requests = 10'000;
    options.max_requests_per_minute = 600;
    options.max_age = minutes{30};
    options.answer_timeout = minutes{10};
    options.max_unread_bytes = 16 * kMiB;
    return options;
}

}  // namespace kubenodesmith

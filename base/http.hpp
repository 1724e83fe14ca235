// HTTP as values, and the one seam to the outside world: everything that leaves the process goes
// through an HttpTransport, so that in-memory servers can take the place of real ones in tests.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/interface.hpp"

namespace base {

class HttpHeaders {
public:
    HttpHeaders() = default;
    void set(std::string name, std::string value);  // replaces, ignoring case
    void add(std::string name, std::string value);
    std::optional<std::string_view> find(std::string_view name) const;  // ignoring case; the first one
    const std::vector<std::pair<std::string, std::string>>& all() const { return fields_; }

private:
    std::vector<std::pair<std::string, std::string>> fields_;
};

struct HttpRequest {
    std::string method = "GET";
    std::string target;  // path and query, percent-encoded: /api/v1/pods?limit=500
    HttpHeaders headers;
    std::string body;
    // From the start of the call to the last byte of the response; for a stream: to its header,
    // after which it bounds the silence between two reads.
    Duration timeout = std::chrono::seconds{30};
    // Called when a connection is there and before the first byte is written; what it throws ends the call,
    // and nothing is written. For what may have become untrue while a connection was waited for.
    std::function<void()> before_writing;
};

struct HttpResponse {
    int status = 0;
    std::string reason;  // Proxmox puts its error text here
    HttpHeaders headers;
    std::string body;
};

// A response whose body is read piece by piece (a Kubernetes watch or a large list).
class HttpStream : public Interface {
public:
    // Status and headers; the body is empty.
    virtual const HttpResponse& head() const = 0;
    // The next bytes of the body, nullopt at its end. Throws TransportError.
    virtual asio::awaitable<std::optional<std::string>> read() = 0;
};

// No response could be had. `request_may_have_been_sent` is false only if the server cannot have seen
// the request: otherwise its effect is unknown and must be read back before anything is tried again.
class TransportError : public std::runtime_error {
public:
    TransportError(const std::string& what, bool may_have_been_sent)
        : std::runtime_error(what), request_may_have_been_sent(may_have_been_sent) {}
    bool request_may_have_been_sent;
};

class HttpTransport : public Interface {
public:
    // Any status is a response, not an error. Throws TransportError; cancelling drops the connection.
    virtual asio::awaitable<HttpResponse> send(HttpRequest request) = 0;
    virtual asio::awaitable<std::unique_ptr<HttpStream>> open(HttpRequest request) = 0;
};

}  // namespace base

// HTTP as values. All traffic of the process passes an HttpTransport, so that tests can replace real servers
// by in-memory ones.
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
    std::optional<std::string_view> find(std::string_view name) const;  // returns the first, ignoring case
    const std::vector<std::pair<std::string, std::string>>& all() const { return fields_; }

private:
    std::vector<std::pair<std::string, std::string>> fields_;
};

struct HttpRequest {
    std::string method = "GET";
    std::string target;  // path and query, percent-encoded: /api/v1/pods?limit=500
    HttpHeaders headers;
    std::string body;
    // Limit from the start of the call to the last byte of the response. For a stream it ends with the
    // header, and then limits the silence between two reads.
    Duration timeout = std::chrono::seconds{30};
    // Called when there is a connection, before the first byte is written. An exception ends the call, and
    // nothing is written. It checks conditions that may have changed during the wait for a connection.
    std::function<void()> before_writing;
    // Takes the body of a 2xx response to send() piece by piece, so that a large one is never held as a
    // whole. A transport in memory may leave the body in the response instead. It must not throw.
    std::function<void(std::string_view piece)> on_body;
};

struct HttpResponse {
    int status = 0;
    std::string reason;  // Proxmox puts its error text here
    HttpHeaders headers;
    std::string body;
};

// HttpStream is a response whose body is read piece by piece (a Kubernetes watch or a large list).
class HttpStream : public Interface {
public:
    // Returns status and headers; the body is empty.
    virtual const HttpResponse& head() const = 0;
    // Returns the next bytes of the body, or nullopt at its end. Throws TransportError.
    virtual asio::awaitable<std::optional<std::string>> read() = 0;
};

// TransportError means that there was no response. `request_may_have_been_sent` is false only if the server
// cannot have seen the request. Otherwise its effect is unknown and must be read back before another attempt.
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

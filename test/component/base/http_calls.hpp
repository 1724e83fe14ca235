// Calls of the HTTP client as its tests make them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/http_client.hpp"
#include "test/component/base/loop.hpp"

namespace test {

inline std::unique_ptr<base::HttpTransport> client_of(
    Loop& loop, const std::string& url, base::Duration connect_timeout = std::chrono::seconds(2),
    std::size_t connections = 16) {
    base::HttpClientOptions options;
    options.url = url;
    options.connect_timeout = connect_timeout;
    options.max_connections = connections;
    return base::make_http_client(loop.context.get_executor(), *loop.clock, options);
}

inline base::HttpRequest request(std::string method, std::string target,
                                 base::Duration timeout = std::chrono::seconds(5)) {
    base::HttpRequest result;
    result.method = std::move(method);
    result.target = std::move(target);
    result.timeout = timeout;
    return result;
}

struct Failure {
    std::string what;
    bool may_have_been_sent = false;
};

inline asio::awaitable<std::optional<Failure>> failure_of(base::HttpTransport& client,
                                                          base::HttpRequest request) {
    try {
        co_await client.send(std::move(request));
    } catch (const base::TransportError& error) {
        Failure failure{error.what(), error.request_may_have_been_sent};
        co_return failure;
    }
    co_return std::nullopt;
}

}  // namespace test

// Tests the limits of the HTTP client: time, number and length.
#include <boost/asio/ip/tcp.hpp>

#include "test/component/base/http_calls.hpp"
#include "test/component/base/raw_server.hpp"

namespace {

namespace asio = boost::asio;

using namespace std::chrono_literals;
using test::client_of;
using test::Failure;
using test::failure_of;
using test::Loop;
using test::RawServer;
using test::request;

}  // namespace

TEST_CASE("a silent server makes the call time out") {
    Loop loop;
    RawServer server(loop, {{RawServer::kSilence}});
    auto client = client_of(loop, server.url());
    loop.run([&]() -> asio::awaitable<void> {
        auto before = loop.clock->now();
        auto failure = co_await failure_of(*client, request("GET", "/slow", 100ms));
        REQUIRE(failure);
        CHECK(failure->what == "GET " + server.url() + "/slow: timed out");
        CHECK(failure->may_have_been_sent);
        CHECK(loop.clock->now() - before < 2s);
    });
    CHECK(server.accepted() == 1);
}

TEST_CASE("a listener that never accepts makes the connection's TLS handshake time out") {
    Loop loop;
    asio::ip::tcp::acceptor acceptor(loop.context, {asio::ip::make_address("127.0.0.1"), 0});
    auto client =
        client_of(loop, "https://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()), 100ms);
    loop.run([&]() -> asio::awaitable<void> {
        auto failure = co_await failure_of(*client, request("POST", "/x"));
        REQUIRE(failure);
        CHECK_FALSE(failure->may_have_been_sent);
        CHECK(failure->what.ends_with("timed out"));
    });
}

TEST_CASE("a cancelled call ends with operation_aborted, not with a failure of the network") {
    Loop loop;
    RawServer server(loop, {{RawServer::kSilence}});
    auto client = client_of(loop, server.url());
    boost::system::error_code seen;
    loop.run([&]() -> asio::awaitable<void> {
        base::TaskGroup group(loop.context.get_executor());
        auto call = [&]() -> asio::awaitable<void> {
            try {
                co_await client->send(request("GET", "/"));
            } catch (const boost::system::system_error& error) {
                seen = error.code();
            }
        };
        group.spawn(call());
        while (server.requests().empty()) co_await loop.clock->sleep_for(1ms);
        group.stop();
        co_await group.join();
    });
    CHECK(seen == asio::error::operation_aborted);
}

TEST_CASE("a stream gives its pieces as they come, and silence beyond the timeout ends it") {
    Loop loop;
    RawServer server(loop, {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"}});
    auto client = client_of(loop, server.url());
    loop.run([&]() -> asio::awaitable<void> {
        auto stream = co_await client->open(request("GET", "/watch", 200ms));
        CHECK(stream->head().status == 200);
        auto piece = co_await stream->read();
        CHECK(piece == "first");
        std::string failure;
        try {
            co_await stream->read();
        } catch (const base::TransportError& error) {
            failure = error.what();
        }
        CHECK(failure.ends_with("/watch: timed out"));
    });
}

TEST_CASE("calls beyond the number of connections wait for a free one, within their time") {
    Loop loop;
    RawServer server(loop, {{RawServer::kSilence}});
    auto client = client_of(loop, server.url(), 2s, 1);
    loop.run([&]() -> asio::awaitable<void> {
        base::TaskGroup group(loop.context.get_executor());
        std::optional<Failure> first;
        auto call = [&]() -> asio::awaitable<void> {
            first = co_await failure_of(*client, request("GET", "/1", 400ms));
        };
        group.spawn(call());
        co_await loop.clock->sleep_for(50ms);
        auto second = co_await failure_of(*client, request("POST", "/2", 50ms));
        REQUIRE(second);
        CHECK_FALSE(second->may_have_been_sent);
        CHECK(second->what.ends_with("/2: all connections are busy: timed out"));
        co_await group.join();
        CHECK(first);
    });
}

TEST_CASE("a body is passed on in pieces where the call takes them, and only that of a success") {
    Loop loop;
    const std::size_t size = 1'000'000;
    RawServer server(loop, {{"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone",
                             "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
                                 std::string(size, 'x')}});
    auto client = client_of(loop, server.url());
    std::size_t taken = 0;
    std::size_t largest = 0;
    auto call = request("GET", "/");
    call.on_body = [&](std::string_view piece) {
        taken += piece.size();
        largest = std::max(largest, piece.size());
    };
    loop.run([&]() -> asio::awaitable<void> {
        auto refusal = co_await client->send(call);
        CHECK(refusal.body == "gone");
        CHECK(taken == 0);
        auto response = co_await client->send(call);
        CHECK(response.status == 200);
        CHECK(response.body.empty());
        CHECK(taken == size);
        CHECK(largest <= 64 * 1024);
    });
    CHECK(server.accepted() == 1);
}

TEST_CASE("a response longer than allowed is refused") {
    Loop loop;
    RawServer server(loop, {{"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n12345678901"}});
    base::HttpClientOptions options;
    options.url = server.url();
    options.max_response_bytes = 10;
    auto client = base::make_http_client(loop.context.get_executor(), *loop.clock, options);
    loop.run([&]() -> asio::awaitable<void> {
        auto failure = co_await failure_of(*client, request("GET", "/"));
        REQUIRE(failure);
        CHECK(failure->what.ends_with("/: the response is longer than the 10 bytes allowed"));
    });
}

TEST_CASE("a chunk whose head does not end is refused, not waited for") {
    const std::string endless(100'000, 'x');
    Loop loop;
    RawServer server(loop, {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" + endless}});
    auto client = client_of(loop, server.url());
    loop.run([&]() -> asio::awaitable<void> {
        auto failure = co_await failure_of(*client, request("GET", "/"));
        REQUIRE(failure);
        CHECK(failure->what.ends_with("/: buffer overflow"));
        client.reset();
    });
}

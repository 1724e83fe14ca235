// The HTTP client against scripted servers: framing, reuse, retry, limits of time.
#include "base/http_client.hpp"

#include <boost/asio/ip/tcp.hpp>

#include "base/event.hpp"
#include "test/component/base/raw_server.hpp"

namespace {

namespace asio = boost::asio;

using namespace std::chrono_literals;
using test::Loop;
using test::RawServer;

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

std::unique_ptr<base::HttpTransport> client_of(Loop& loop, const std::string& url,
                                               base::Duration connect_timeout = 2s,
                                               std::size_t connections = 16) {
    base::HttpClientOptions options;
    options.url = url;
    options.connect_timeout = connect_timeout;
    options.max_connections = connections;
    return base::make_http_client(loop.context.get_executor(), *loop.clock, options);
}

base::HttpRequest request(std::string method, std::string target, base::Duration timeout = 5s) {
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

asio::awaitable<std::optional<Failure>> failure_of(base::HttpTransport& client, base::HttpRequest request) {
    try {
        co_await client.send(std::move(request));
    } catch (const base::TransportError& error) {
        Failure failure{error.what(), error.request_may_have_been_sent};
        co_return failure;
    }
    co_return std::nullopt;
}

}  // namespace

TEST_CASE("two calls share one connection") {
    Loop loop;
    RawServer server(loop, {{kOk, kOk}});
    auto client = client_of(loop, server.url());
    loop.run([&]() -> asio::awaitable<void> {
        for (int i = 0; i < 2; ++i) {
            auto response = co_await client->send(request("GET", "/a?b=c"));
            CHECK(response.status == 200);
            CHECK(response.body == "ok");
        }
        client.reset();
    });
    CHECK(server.accepted() == 1);
    REQUIRE(server.requests().size() == 2);
    CHECK(server.requests()[0].starts_with("GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:"));
}

TEST_CASE("a body that ends with the connection is read to its end, and the connection is not used again") {
    Loop loop;
    RawServer server(loop, {{"HTTP/1.1 200 OK\r\n\r\nuntil the end", RawServer::kClose}, {kOk}});
    auto client = client_of(loop, server.url());
    loop.run([&]() -> asio::awaitable<void> {
        auto first = co_await client->send(request("GET", "/"));
        CHECK(first.body == "until the end");
        auto second = co_await client->send(request("GET", "/"));
        CHECK(second.body == "ok");
        client.reset();
    });
    CHECK(server.accepted() == 2);
}

TEST_CASE("interim responses are skipped, and a response without a body ends at its head") {
    Loop loop;
    RawServer server(loop, {{"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"}});
    auto client = client_of(loop, server.url());
    loop.run([&]() -> asio::awaitable<void> {
        auto empty = co_await client->send(request("GET", "/"));
        CHECK(empty.status == 204);
        auto head = co_await client->send(request("HEAD", "/"));
        CHECK(head.status == 200);
        client.reset();
    });
    CHECK(server.accepted() == 1);
}

TEST_CASE("what follows the end of a response is not part of it, and the connection is not used again") {
    Loop loop;
    RawServer server(loop, {{"HTTP/1.1 204 No Content\r\n\r\n{}"}, {kOk + "kk"}, {kOk}});
    auto client = client_of(loop, server.url());
    loop.run([&]() -> asio::awaitable<void> {
        const auto empty = co_await client->send(request("GET", "/"));
        CHECK(empty.status == 204);
        CHECK(empty.body.empty());
        for (int i = 0; i < 2; ++i) {
            const auto response = co_await client->send(request("GET", "/"));
            CHECK(response.body == "ok");
        }
        client.reset();
    });
    CHECK(server.accepted() == 3);
}

TEST_CASE("a reused connection that the server has closed while idle is replaced") {
    Loop loop;
    RawServer server(loop, {{kOk, RawServer::kClose}, {kOk}});
    auto client = client_of(loop, server.url());
    loop.run([&]() -> asio::awaitable<void> {
        co_await client->send(request("GET", "/"));
        co_await loop.clock->sleep_for(20ms);
        auto response = co_await client->send(request("POST", "/"));
        CHECK(response.status == 200);
        client.reset();
    });
    CHECK(server.accepted() == 2);
}

TEST_CASE("a request on a reused connection that ends without a byte of an answer") {
    Loop loop;
    RawServer server(loop, {{kOk, "", RawServer::kClose}, {kOk}});
    auto client = client_of(loop, server.url());
    loop.run([&]() -> asio::awaitable<void> {
        co_await client->send(request("GET", "/"));
        SECTION("is sent once more if it is a GET") {
            auto response = co_await client->send(request("GET", "/again"));
            CHECK(response.status == 200);
            CHECK(server.accepted() == 2);
        }
        SECTION("is never sent again otherwise: it may have had its effect") {
            auto failure = co_await failure_of(*client, request("POST", "/again"));
            REQUIRE(failure);
            CHECK(failure->may_have_been_sent);
            CHECK(server.accepted() == 1);
        }
        client.reset();
    });
}

TEST_CASE("a server that closes in the middle of a response is a failure with unknown effect") {
    Loop loop;
    RawServer server(loop, {{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this", RawServer::kClose}});
    auto client = client_of(loop, server.url());
    loop.run([&]() -> asio::awaitable<void> {
        auto failure = co_await failure_of(*client, request("POST", "/things?secret=1"));
        REQUIRE(failure);
        CHECK(failure->may_have_been_sent);
        CHECK(failure->what ==
              "POST " + server.url() +
                  "/things: the server closed the connection before the response was complete");
    });
}

TEST_CASE("a refused connection names the address and was surely not sent") {
    Loop loop;
    std::string url;
    {
        asio::ip::tcp::acceptor acceptor(loop.context, {asio::ip::make_address("127.0.0.1"), 0});
        url = "http://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
    }
    auto client = client_of(loop, url);
    loop.run([&]() -> asio::awaitable<void> {
        auto failure = co_await failure_of(*client, request("POST", "/x"));
        REQUIRE(failure);
        CHECK_FALSE(failure->may_have_been_sent);
        CHECK(failure->what == "POST " + url + "/x: connecting to 127.0.0.1 port " +
                                   url.substr(url.rfind(':') + 1) + ": 127.0.0.1: Connection refused");
    });
}

TEST_CASE("a name that does not exist is said to be so") {
    Loop loop;
    auto client = client_of(loop, "http://no-such-host.invalid:1");
    loop.run([&]() -> asio::awaitable<void> {
        auto failure = co_await failure_of(*client, request("GET", "/x"));
        REQUIRE(failure);
        CHECK_FALSE(failure->may_have_been_sent);
        CHECK(failure->what.find("looking up no-such-host.invalid: ") != std::string::npos);
    });
}

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

TEST_CASE("a stream that ends well returns its connection") {
    Loop loop;
    RawServer server(
        loop,
        {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n3\r\nbcd\r\n0\r\n\r\n", kOk}});
    auto client = client_of(loop, server.url());
    loop.run([&]() -> asio::awaitable<void> {
        auto stream = co_await client->open(request("GET", "/list"));
        std::string all;
        for (;;) {
            auto piece = co_await stream->read();
            if (!piece) break;
            all += *piece;
        }
        CHECK(all == "abcd");
        co_await client->send(request("GET", "/"));
        client.reset();
        stream.reset();
    });
    CHECK(server.accepted() == 1);
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
        CHECK(failure->what.ends_with("/: the response is longer than allowed"));
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

TEST_CASE("a proxy opens the tunnel, with credentials that no message shows") {
    Loop loop;
    SECTION("it agrees") {
        RawServer proxy(loop, {{"HTTP/1.1 200 Connection established\r\n\r\n", kOk}});
        base::HttpClientOptions options;
        options.url = "http://api.example:8080";
        options.proxy_url = "http://user:p%40ss@" + proxy.url().substr(7);
        auto client = base::make_http_client(loop.context.get_executor(), *loop.clock, options);
        loop.run([&]() -> asio::awaitable<void> {
            auto response = co_await client->send(request("GET", "/"));
            CHECK(response.body == "ok");
            client.reset();
        });
        REQUIRE(proxy.requests().size() == 2);
        CHECK(proxy.requests()[0] ==
              "CONNECT api.example:8080 HTTP/1.1\r\nHost: api.example:8080\r\n"
              "Proxy-Authorization: Basic dXNlcjpwQHNz\r\n\r\n");
    }
    SECTION("it refuses") {
        RawServer proxy(loop, {{"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"}});
        base::HttpClientOptions options;
        options.url = "http://api.example:8080";
        options.proxy_url = "http://user:p%40ss@" + proxy.url().substr(7);
        auto client = base::make_http_client(loop.context.get_executor(), *loop.clock, options);
        loop.run([&]() -> asio::awaitable<void> {
            auto failure = co_await failure_of(*client, request("POST", "/"));
            REQUIRE(failure);
            CHECK_FALSE(failure->may_have_been_sent);
            CHECK(failure->what == "POST http://api.example:8080/: proxy " + proxy.url().substr(7) +
                                       ": refused to connect to api.example:8080 with status 407");
        });
    }
}

TEST_CASE("a request that would break the framing is refused before anything is sent") {
    Loop loop;
    auto client = client_of(loop, "http://127.0.0.1:1");
    loop.run([&]() -> asio::awaitable<void> {
        auto bad = request("GET", "/a b");
        auto smuggling = request("GET", "/");
        smuggling.headers.set("X", "1\r\nY: 2");
        for (auto* each : {&bad, &smuggling}) {
            bool refused = false;
            try {
                co_await client->send(*each);
            } catch (const std::invalid_argument&) {
                refused = true;
            }
            CHECK(refused);
        }
    });
}

TEST_CASE("options that cannot work are refused at once, saying which") {
    Loop loop;
    auto refusal = [&](const std::function<void(base::HttpClientOptions&)>& change) {
        base::HttpClientOptions options;
        options.url = "https://127.0.0.1:1";
        change(options);
        try {
            base::make_http_client(loop.context.get_executor(), *loop.clock, options);
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    CHECK(refusal([](auto& o) { o.url = "localhost:8006"; }) ==
          "URL: scheme \"localhost\" is not supported, use https or http");
    CHECK(refusal([](auto& o) { o.proxy_url = "socks5://x:1"; }) ==
          "proxy URL: scheme \"socks5\" is not supported, use https or http");
    CHECK(refusal([](auto& o) {
              o.tls.ca_bundle_pem = "nonsense";
          }).starts_with("CA bundle: expected PEM certificates"));
    CHECK(refusal([](auto& o) {
              o.tls.fingerprint_sha256 = "AB:CD";
          }).starts_with("fingerprint: expected a SHA-256"));
    CHECK(refusal([](auto& o) { o.tls.client_key_pem = "x"; }) ==
          "client certificate and client key: both or none must be given");
}

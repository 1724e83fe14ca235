// Tests the HTTP client against scripted servers: framing, reuse, retry, proxies.
#include <boost/asio/ip/tcp.hpp>

#include "test/component/base/http_calls.hpp"
#include "test/component/base/raw_server.hpp"

namespace {

namespace asio = boost::asio;

using namespace std::chrono_literals;
using test::client_of;
using test::failure_of;
using test::Loop;
using test::RawServer;
using test::request;

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

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

TEST_CASE("what may be written no longer when a connection is there is not written") {
    Loop loop;
    RawServer server(loop, {{kOk}, {kOk}});
    auto client = client_of(loop, server.url());
    loop.run([&]() -> asio::awaitable<void> {
        auto held = request("POST", "/held");
        held.before_writing = [] { throw std::logic_error("not any more"); };
        bool is_refused = false;
        try {
            co_await client->send(held);
        } catch (const std::logic_error&) {
            is_refused = true;
        }
        CHECK(is_refused);
        auto response = co_await client->send(request("POST", "/free"));
        CHECK(response.status == 200);
        client.reset();
    });
    REQUIRE(server.requests().size() == 1);
    CHECK(server.requests()[0].starts_with("POST /free "));
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
          "proxy URL: only HTTP proxies are supported, given as http://host:port");
    CHECK(refusal([](auto& o) { o.proxy_url = "https://x:1"; }) ==
          "proxy URL: only HTTP proxies are supported, given as http://host:port");
    CHECK(refusal([](auto& o) {
              o.tls.ca_bundle_pem = "nonsense";
          }).starts_with("CA bundle: expected PEM certificates"));
    CHECK(refusal([](auto& o) {
              o.tls.fingerprint_sha256 = "AB:CD";
          }).starts_with("fingerprint: expected a SHA-256"));
    CHECK(refusal([](auto& o) { o.tls.client_key_pem = "x"; }) ==
          "client certificate and client key: both or none must be given");
}

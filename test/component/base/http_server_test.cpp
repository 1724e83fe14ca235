// Tests our client and our server together, with TLS and without.
#include "base/http_server.hpp"

#include <boost/asio/ip/tcp.hpp>

#include "base/condition_variable.hpp"
#include "base/http_client.hpp"
#include "test/component/base/certificates.hpp"
#include "test/component/base/loop.hpp"

namespace {

namespace asio = boost::asio;

using namespace std::chrono_literals;
using test::Loop;

asio::awaitable<base::HttpResponse> echo(base::HttpRequest request) {
    if (request.target == "/fail") throw std::runtime_error("a reason that stays inside");
    base::HttpResponse response;
    response.status = 200;
    response.headers.set("X-Method", request.method);
    response.body = request.body.empty() ? request.target : request.body;
    co_return response;
}

base::HttpRequest request(std::string method, std::string target, std::string body = "") {
    base::HttpRequest result;
    result.method = std::move(method);
    result.target = std::move(target);
    result.body = std::move(body);
    result.timeout = 5s;
    return result;
}

struct Fixture {
    Loop loop;
    test::Authority authority{"test authority"};
    test::KeyPair pair = authority.issue({"server", "DNS:localhost,IP:127.0.0.1"});
    std::unique_ptr<base::HttpServer> server;

    void serve(base::HttpServerOptions options = {}, base::HttpHandler handler = echo) {
        server =
            base::make_http_server(loop.context.get_executor(), *loop.clock, options, std::move(handler));
        loop.background.spawn(server->run());
    }
    void serve_tls() { serve(tls_options()); }
    base::HttpServerOptions tls_options() const {
        base::HttpServerOptions options;
        options.key_pair = [pair = pair] { return pair; };
        return options;
    }
    std::string url(const std::string& scheme, const std::string& host = "127.0.0.1") const {
        return scheme + "://" + host + ":" + std::to_string(server->port());
    }
    std::unique_ptr<base::HttpTransport> client(const std::string& url, base::TlsClientOptions tls = {}) {
        base::HttpClientOptions options;
        options.url = url;
        options.tls = std::move(tls);
        return base::make_http_client(loop.context.get_executor(), *loop.clock, options);
    }
    // Returns the message of the failure, or the body.
    std::string outcome(base::HttpTransport& transport, base::HttpRequest wish = request("GET", "/here")) {
        std::string result;
        loop.run([&]() -> asio::awaitable<void> {
            try {
                auto response = co_await transport.send(wish);
                result = response.body;
            } catch (const base::TransportError& error) {
                CHECK_FALSE(error.request_may_have_been_sent);
                result = error.what();
            }
        });
        return result;
    }
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a large body goes there and back over TLS") {
    serve_tls();
    base::TlsClientOptions tls;
    tls.ca_bundle_pem = authority.certificate_pem();
    auto transport = client(url("https"), tls);
    const std::string body(3'000'000, 'x');
    CHECK(outcome(*transport, request("POST", "/", body)) == body);
}

TEST_CASE_METHOD(Fixture, "a certificate of the right authority for the right name is trusted") {
    serve_tls();
    base::TlsClientOptions tls;
    tls.ca_bundle_pem = authority.certificate_pem();
    SECTION("address") {
        CHECK(outcome(*client(url("https"), tls)) == "/here");
    }
    SECTION("name") {
        CHECK(outcome(*client(url("https", "localhost"), tls)) == "/here");
    }
    SECTION("name given apart") {
        tls.server_name = "localhost";
        CHECK(outcome(*client(url("https"), tls)) == "/here");
    }
}

TEST_CASE_METHOD(Fixture, "another authority's certificate is refused, naming its fingerprint") {
    serve_tls();
    base::TlsClientOptions tls;
    tls.ca_bundle_pem = test::Authority("another authority").certificate_pem();
    auto text = outcome(*client(url("https"), tls));
    INFO(text);
    CHECK(contains(text, "the server's certificate was refused: unable to get local issuer certificate"));
    CHECK(contains(text, "certificate SHA-256 "));
}

TEST_CASE_METHOD(Fixture, "a certificate for another name is refused, saying which name was wanted") {
    serve_tls();
    base::TlsClientOptions tls;
    tls.ca_bundle_pem = authority.certificate_pem();
    tls.server_name = "pve1.example";
    auto text = outcome(*client(url("https"), tls));
    INFO(text);
    CHECK(contains(text, "hostname mismatch, it is not valid for pve1.example"));
}

TEST_CASE_METHOD(Fixture, "an expired certificate is refused") {
    pair = authority.issue({"server", "IP:127.0.0.1", -1});
    serve_tls();
    base::TlsClientOptions tls;
    tls.ca_bundle_pem = authority.certificate_pem();
    CHECK(contains(outcome(*client(url("https"), tls)), "certificate has expired"));
}

TEST_CASE_METHOD(Fixture, "a pinned certificate is trusted whatever its authority and name") {
    serve_tls();
    base::TlsClientOptions tls;
    tls.server_name = "pve1.example";
    SECTION("the pinned one") {
        tls.fingerprint_sha256 = pair.fingerprint_sha256;
        CHECK(outcome(*client(url("https"), tls)) == "/here");
    }
    SECTION("another one") {
        tls.fingerprint_sha256 = test::Authority("x").issue({"x", ""}).fingerprint_sha256;
        auto text = outcome(*client(url("https"), tls));
        INFO(text);
        CHECK(contains(text, "which is not the one configured"));
    }
}

TEST_CASE_METHOD(Fixture, "insecure means that any certificate will do") {
    serve_tls();
    base::TlsClientOptions tls;
    tls.insecure_skip_verify = true;
    CHECK(outcome(*client(url("https", "localhost"), tls)) == "/here");
}

TEST_CASE_METHOD(Fixture, "a client that speaks TLS to a plain server is told so in time") {
    serve();
    auto text = outcome(*client(url("https")));
    INFO(text);
    CHECK(contains(text, "TLS handshake failed: wrong version number"));
}

TEST_CASE_METHOD(Fixture, "a handler's exception becomes status 500 without its text") {
    serve();
    auto transport = client(url("http"));
    loop.run([&]() -> asio::awaitable<void> {
        auto response = co_await transport->send(request("GET", "/fail"));
        CHECK(response.status == 500);
        CHECK(response.body.empty());
        auto next = co_await transport->send(request("PUT", "/x", "y"));
        CHECK(next.body == "y");
        CHECK(next.headers.find("x-method") == "PUT");
    });
}

TEST_CASE_METHOD(Fixture, "requests beyond the limits are refused") {
    base::HttpServerOptions options;
    options.max_header_bytes = 1000;
    options.max_body_bytes = 1000;
    serve(options);
    auto transport = client(url("http"));
    loop.run([&]() -> asio::awaitable<void> {
        auto long_target = request("GET", "/" + std::string(2000, 'a'));
        auto first = co_await transport->send(long_target);
        CHECK(first.status == 431);
        auto long_body = request("POST", "/", std::string(2000, 'a'));
        auto second = co_await transport->send(long_body);
        CHECK(second.status == 413);
    });
}

TEST_CASE_METHOD(Fixture, "an idle connection is closed by the server, and the client does not notice") {
    base::HttpServerOptions options;
    options.idle_timeout = 30ms;
    SECTION("plain") {
        serve(options);
    }
    SECTION("TLS") {
        options.key_pair = tls_options().key_pair;
        serve(options);
    }
    base::TlsClientOptions tls;
    tls.insecure_skip_verify = true;
    auto transport = client(url(options.key_pair ? "https" : "http"), tls);
    loop.run([&]() -> asio::awaitable<void> {
        for (int i = 0; i < 3; ++i) {
            auto response = co_await transport->send(request("POST", "/", "again"));
            CHECK(response.body == "again");
            co_await loop.clock->sleep_for(80ms);
        }
    });
}

TEST_CASE_METHOD(Fixture, "a request being answered is finished when the server ends, and no other begins") {
    base::ConditionVariable release(loop.context.get_executor());
    bool entered = false;
    auto slow = [&](base::HttpRequest) -> asio::awaitable<base::HttpResponse> {
        entered = true;
        co_await release.wait();
        base::HttpResponse response;
        response.status = 200;
        co_return response;
    };
    server = base::make_http_server(loop.context.get_executor(), *loop.clock, {}, slow);
    auto transport = client(url("http"));
    loop.run([&]() -> asio::awaitable<void> {
        base::TaskGroup serving(loop.context.get_executor());
        base::TaskGroup calling(loop.context.get_executor());
        serving.spawn(server->run());
        std::optional<base::HttpResponse> answer;
        auto call = [&]() -> asio::awaitable<void> {
            answer = co_await transport->send(request("GET", "/"));
        };
        calling.spawn(call());
        while (!entered) co_await loop.clock->sleep_for(1ms);
        serving.stop();
        co_await loop.clock->sleep_for(20ms);
        CHECK(serving.size() == 1);
        release.notify_all();
        co_await serving.join();
        co_await calling.join();
        REQUIRE(answer);
        CHECK(answer->status == 200);
        CHECK(answer->headers.find("connection") == "close");
    });
}

TEST_CASE_METHOD(Fixture,
                 "a server of all addresses answers over IPv4, and over IPv6 where the host has it") {
    base::HttpServerOptions options;
    options.address = "";
    boost::system::error_code without_ipv6;
    asio::ip::tcp::acceptor probe(loop.context);
    probe.open(asio::ip::tcp::v6(), without_ipv6);
    if (!without_ipv6) probe.bind({asio::ip::address_v6::loopback(), 0}, without_ipv6);
    std::vector<std::string> hosts{"127.0.0.1"};
    if (!without_ipv6) hosts.emplace_back("[::1]");
    serve(options);
    loop.run([&]() -> asio::awaitable<void> {
        for (const auto& host : hosts) {
            const auto caller = client(url("http", host));
            const auto answer = co_await caller->send(request("GET", "/here"));
            CHECK(answer.body == "/here");
        }
    });
}

TEST_CASE_METHOD(Fixture, "an address in use is named") {
    serve();
    base::HttpServerOptions options;
    options.port = server->port();
    std::string text;
    try {
        base::make_http_server(loop.context.get_executor(), *loop.clock, options, echo);
    } catch (const std::runtime_error& error) {
        text = error.what();
    }
    CHECK(text ==
          "listening on 127.0.0.1 port " + std::to_string(server->port()) + ": Address already in use");
    loop.run([]() -> asio::awaitable<void> { co_return; });
}

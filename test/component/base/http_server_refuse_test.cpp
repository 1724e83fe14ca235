// Tests requests that are refused from their head alone, and a server that hangs up.
#include <boost/asio/co_spawn.hpp>

#include "base/http_client.hpp"
#include "base/http_server.hpp"
#include "test/component/base/loop.hpp"

namespace {

namespace asio = boost::asio;

asio::awaitable<base::HttpResponse> answer(base::HttpRequest request) {
    if (request.target == "/gone") throw base::TransportError("the host is off", true);
    base::HttpResponse response;
    response.status = 200;
    co_return response;
}

struct Fixture {
    test::Loop loop;
    std::unique_ptr<base::HttpServer> server;
    std::unique_ptr<base::HttpTransport> client;

    Fixture() {
        base::HttpServerOptions options;
        options.refuse = [](const base::HttpRequest& head) -> std::optional<base::HttpResponse> {
            if (head.headers.find("Content-Length").value_or("0") == "0") return std::nullopt;
            base::HttpResponse response;
            response.status = 501;
            response.reason = "no bodies here";
            return response;
        };
        server = base::make_http_server(loop.context.get_executor(), *loop.clock, options, answer);
        loop.background.spawn(server->run());
        base::HttpClientOptions client_options;
        client_options.url = "http://127.0.0.1:" + std::to_string(server->port());
        client = base::make_http_client(loop.context.get_executor(), *loop.clock, client_options);
    }
};

base::HttpRequest request(std::string method, std::string target) {
    base::HttpRequest result;
    result.method = std::move(method);
    result.target = std::move(target);
    return result;
}

}  // namespace

TEST_CASE("a server refuses a long body from the head alone and the client still reads the answer") {
    Fixture fixture;
    fixture.loop.run([&]() -> asio::awaitable<void> {
        auto upload = request("POST", "/");
        upload.body = std::string(4 * 1024 * 1024, 'x');
        auto refused = co_await fixture.client->send(std::move(upload));
        CHECK(refused.status == 501);
        CHECK(refused.reason == "no bodies here");
        auto accepted = co_await fixture.client->send(request("GET", "/"));
        CHECK(accepted.status == 200);
    });
}

TEST_CASE("a handler that throws TransportError hangs up without an answer") {
    Fixture fixture;
    fixture.loop.run([&]() -> asio::awaitable<void> {
        std::optional<bool> may_have_been_sent;
        try {
            co_await fixture.client->send(request("POST", "/gone"));
        } catch (const base::TransportError& error) {
            may_have_been_sent = error.request_may_have_been_sent;
        }
        CHECK(may_have_been_sent == true);
    });
}

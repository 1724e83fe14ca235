// What strangers can take from a server: no more connections, bytes and time than it allows anybody.
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <deque>

#include "base/event.hpp"
#include "base/http_client.hpp"
#include "base/http_server.hpp"
#include "test/component/base/loop.hpp"

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

constexpr std::size_t kMost = 4;
constexpr std::string_view kBody = "ok";

struct Fixture {
    test::Loop loop;
    base::Event released{loop.context.get_executor()};
    int answered = 0;
    bool release = false;
    std::unique_ptr<base::HttpServer> server;

    void serve(base::HttpServerOptions options) {
        auto answer = [this](base::HttpRequest request) -> asio::awaitable<base::HttpResponse> {
            ++answered;
            while (request.target == "/slow" && !release) co_await released.wait();
            base::HttpResponse response;
            response.status = 200;
            response.body = kBody;
            co_return response;
        };
        server = base::make_http_server(loop.context.get_executor(), *loop.clock, options, answer);
        loop.background.spawn(server->run());
    }
    static base::HttpServerOptions bounded() {
        base::HttpServerOptions options;
        options.max_connections = kMost;
        options.max_body_bytes = 0;
        return options;
    }
    asio::awaitable<tcp::socket> connect() {
        tcp::socket socket(loop.context);
        const tcp::endpoint there(asio::ip::make_address("127.0.0.1"), server->port());
        co_await socket.async_connect(there, asio::use_awaitable);
        co_return socket;
    }
    static asio::awaitable<void> send(tcp::socket& socket, std::string text) {
        boost::system::error_code ignored;  // the server may have hung up
        co_await asio::async_write(socket, asio::buffer(text),
                                   asio::redirect_error(asio::use_awaitable, ignored));
    }
    // Of the next answer, which is read whole; 0: the server hung up without one.
    static asio::awaitable<int> status(tcp::socket& socket) {
        std::string text;
        boost::system::error_code error;
        const auto head = co_await asio::async_read_until(socket, asio::dynamic_buffer(text), "\r\n\r\n",
                                                          asio::redirect_error(asio::use_awaitable, error));
        if (error) co_return 0;
        const int status = std::stoi(text.substr(std::string("HTTP/1.1 ").size()));
        const auto whole = head + (status == 200 ? kBody.size() : 0);
        if (text.size() < whole)
            co_await asio::async_read(socket, asio::dynamic_buffer(text),
                                      asio::transfer_exactly(whole - text.size()), asio::use_awaitable);
        co_return status;
    }
    asio::awaitable<void> until_answered(int count) {
        while (answered < count) co_await loop.clock->sleep_for(1ms);
    }
};

constexpr auto* kProbe = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr auto* kSlow = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";

}  // namespace

TEST_CASE_METHOD(Fixture, "who says nothing makes room for who does") {
    serve(bounded());
    loop.run([&]() -> asio::awaitable<void> {
        std::deque<tcp::socket> silent;
        for (int i = 0; i < 50; ++i) silent.push_back(co_await connect());
        auto probe = co_await connect();
        co_await send(probe, kProbe);
        CHECK(co_await status(probe) == 200);
        // The first of the silent ones were closed, the last are still waited for.
        CHECK(co_await status(silent.front()) == 0);
        co_await send(silent.back(), kProbe);
        CHECK(co_await status(silent.back()) == 200);
    });
}

TEST_CASE_METHOD(Fixture, "the connection that has been idle for longest goes first, not the oldest one") {
    serve(bounded());
    loop.run([&]() -> asio::awaitable<void> {
        std::deque<tcp::socket> sockets;
        for (std::size_t i = 0; i < kMost; ++i) sockets.push_back(co_await connect());
        co_await send(sockets[0], kProbe);
        CHECK(co_await status(sockets[0]) == 200);
        auto another = co_await connect();
        CHECK(co_await status(sockets[1]) == 0);
        co_await send(sockets[0], kProbe);
        CHECK(co_await status(sockets[0]) == 200);
        co_await send(another, kProbe);
        CHECK(co_await status(another) == 200);
    });
}

TEST_CASE_METHOD(Fixture, "requests that are being answered are never cut off for others") {
    serve(bounded());
    loop.run([&]() -> asio::awaitable<void> {
        std::deque<tcp::socket> waiting;
        for (std::size_t i = 0; i < kMost; ++i) {
            waiting.push_back(co_await connect());
            co_await send(waiting.back(), kSlow);
        }
        co_await until_answered(kMost);
        auto late = co_await connect();
        CHECK(co_await status(late) == 0);
        release = true;
        released.notify_all();
        for (auto& socket : waiting) CHECK(co_await status(socket) == 200);
    });
}

TEST_CASE_METHOD(Fixture, "a server that only tells refuses bodies unread") {
    serve(bounded());
    loop.run([&]() -> asio::awaitable<void> {
        auto declared = co_await connect();
        co_await send(declared, "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 15728640\r\n\r\n");
        CHECK(co_await status(declared) == 413);
        auto chunked = co_await connect();
        co_await send(chunked,
                      "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nf00000\r\nxxxx");
        CHECK(co_await status(chunked) == 413);
        auto empty = co_await connect();
        co_await send(empty, "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
        CHECK(co_await status(empty) == 200);
        CHECK(answered == 1);
    });
}

TEST_CASE_METHOD(Fixture, "a request that comes drop by drop has one deadline, not one for each drop") {
    auto options = bounded();
    options.max_body_bytes = 1000;
    options.request_timeout = 100ms;
    std::string begin;
    SECTION("head") {
        begin = "GET /healthz HTTP/1.1\r\nX-Long: ";
    }
    SECTION("body") {
        begin = "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n";
    }
    serve(options);
    loop.run([&]() -> asio::awaitable<void> {
        auto drip = co_await connect();
        co_await send(drip, begin);
        bool open = true;
        for (int drops = 0; open && drops < 800; ++drops) {
            co_await loop.clock->sleep_for(10ms);
            boost::system::error_code error;
            co_await asio::async_write(drip, asio::buffer("x", 1),
                                       asio::redirect_error(asio::use_awaitable, error));
            open = !error;
        }
        CHECK_FALSE(open);
        CHECK(answered == 0);
    });
}

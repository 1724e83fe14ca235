// Tests what strangers can take from a server: no more connections, bytes and time than its limits allow.
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <deque>

#include "base/condition_variable.hpp"
#include "base/http_client.hpp"
#include "base/http_server.hpp"
#include "test/component/base/endless_requests.hpp"
#include "test/component/base/loop.hpp"

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

constexpr std::size_t kMost = 4;
constexpr std::string_view kBody = "ok";
constexpr std::size_t kLong = 16 * 1024 * 1024;  // more than sockets can hold

struct Fixture {
    test::Loop loop;
    base::ConditionVariable released{loop.context.get_executor()};
    int answered = 0;
    int answering = 0;
    bool release = false;
    std::unique_ptr<base::HttpServer> server;

    void serve(base::HttpServerOptions options) {
        auto answer = [this](base::HttpRequest request) -> asio::awaitable<base::HttpResponse> {
            struct Under {
                explicit Under(int& way) : count(way) { ++count; }
                ~Under() { --count; }
                int& count;
            } under{answering};
            ++answered;
            while (request.target == "/slow" && !release) co_await released.wait();
            base::HttpResponse response;
            response.status = 200;
            response.body = request.target == "/long" ? std::string(kLong, 'x') : std::string(kBody);
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
    asio::awaitable<tcp::socket> connect(const std::string& from = "127.0.0.1") {
        tcp::socket socket(loop.context, tcp::endpoint(asio::ip::make_address(from), 0));
        const tcp::endpoint there(asio::ip::make_address("127.0.0.1"), server->port());
        co_await socket.async_connect(there, asio::use_awaitable);
        co_return socket;
    }
    static asio::awaitable<void> send(tcp::socket& socket, std::string text) {
        boost::system::error_code ignored;  // the server may have hung up
        co_await asio::async_write(socket, asio::buffer(text),
                                   asio::redirect_error(asio::use_awaitable, ignored));
    }
    // Returns the status of the next answer, which is read completely; 0 if the server hung up without one.
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
    // Connects a client that requests much and reads nothing of it.
    asio::awaitable<tcp::socket> ask_and_read_nothing(std::string target = "/long") {
        auto socket = co_await connect();
        const auto before = answered;
        co_await send(socket, "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
        co_await until_answered(before + 1);
        co_return socket;
    }
    // Reports whether the connection is still open after the given bytes. A server that closes it does so
    // after it has sent these.
    static asio::awaitable<bool> is_open_after(tcp::socket& socket, std::size_t bytes) {
        std::string text;
        boost::system::error_code error;
        co_await asio::async_read(socket, asio::dynamic_buffer(text), asio::transfer_exactly(bytes),
                                  asio::redirect_error(asio::use_awaitable, error));
        co_return !error;
    }
    asio::awaitable<void> until_answered(int count) {
        while (answered < count) co_await loop.clock->sleep_for(1ms);
    }
};

constexpr auto* kProbe = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

}  // namespace

TEST_CASE_METHOD(Fixture, "who says nothing makes room for who does") {
    serve(bounded());
    loop.run([&]() -> asio::awaitable<void> {
        std::deque<tcp::socket> silent;
        for (int i = 0; i < 50; ++i) silent.push_back(co_await connect());
        auto probe = co_await connect();
        co_await send(probe, kProbe);
        CHECK(co_await status(probe) == 200);
        // The first of the silent clients were cut off. The server still waits for the last ones.
        CHECK(co_await status(silent.front()) == 0);
        co_await send(silent.back(), kProbe);
        CHECK(co_await status(silent.back()) == 200);
    });
}

TEST_CASE_METHOD(Fixture, "who says nothing takes no place where the system waits for the first bytes") {
    auto options = bounded();
    options.defers_accept = true;
    serve(options);
    loop.run([&]() -> asio::awaitable<void> {
        std::deque<tcp::socket> silent;
        for (int i = 0; i < 50; ++i) silent.push_back(co_await connect());
        for (auto& socket : silent) {
            co_await send(socket, kProbe);
            CHECK(co_await status(socket) == 200);
        }
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

TEST_CASE_METHOD(Fixture,
                 "who waits for an answer is cut off for another, and nothing works for it any more") {
    serve(bounded());
    loop.run([&]() -> asio::awaitable<void> {
        std::deque<tcp::socket> waiting;
        for (int i = 0; i < 20; ++i) waiting.push_back(co_await ask_and_read_nothing("/slow"));
        auto probe = co_await connect();
        co_await send(probe, kProbe);
        CHECK(co_await status(probe) == 200);
        CHECK(answering < static_cast<int>(kMost));
        CHECK(co_await status(waiting.front()) == 0);
        release = true;
        released.notify_all();
        CHECK(co_await status(waiting.back()) == 200);
    });
}

TEST_CASE_METHOD(Fixture, "who does not read an answer keeps nobody from being answered") {
    serve(bounded());
    loop.run([&]() -> asio::awaitable<void> {
        std::deque<tcp::socket> lazy;
        for (int i = 0; i < 20; ++i) lazy.push_back(co_await ask_and_read_nothing());
        for (int i = 0; i < 5; ++i) {
            auto probe = co_await connect();
            co_await send(probe, kProbe);
            CHECK(co_await status(probe) == 200);
        }
        CHECK_FALSE(co_await is_open_after(lazy.front(), kLong));
    });
}

TEST_CASE_METHOD(Fixture, "of those who read the slowest goes") {
    serve(bounded());
    loop.run([&]() -> asio::awaitable<void> {
        auto reads = co_await ask_and_read_nothing();
        auto lazy = co_await ask_and_read_nothing();
        CHECK(co_await is_open_after(reads, kLong / 2));
        auto another = co_await ask_and_read_nothing();
        CHECK(co_await is_open_after(reads, kLong / 2));
        CHECK_FALSE(co_await is_open_after(lazy, kLong));
    });
}

TEST_CASE_METHOD(Fixture, "answers that nobody reads take no more memory than allowed") {
    auto options = bounded();
    options.max_connections = 100;
    options.max_unread_bytes = 3 * kLong;
    serve(options);
    loop.run([&]() -> asio::awaitable<void> {
        std::deque<tcp::socket> lazy;
        for (int i = 0; i < 10; ++i) lazy.push_back(co_await ask_and_read_nothing());
        std::size_t open = 0;
        for (auto& socket : lazy) open += co_await is_open_after(socket, kLong);
        CHECK(open >= 2);
        CHECK(open <= 3);
    });
}

TEST_CASE_METHOD(Fixture, "one client's connections take no place of another's") {
    auto options = bounded();
    SECTION("because it has its own bound") {
        options.max_connections = 100;
        options.max_connections_of_client = 3;
    }
    SECTION("because it has the most of all") {
        options.max_connections = 6;
    }
    serve(options);
    loop.run([&]() -> asio::awaitable<void> {
        auto first = co_await connect("127.0.0.2");
        auto second = co_await connect("127.0.0.2");
        std::deque<tcp::socket> many;
        for (int i = 0; i < 50; ++i) many.push_back(co_await connect());
        for (auto* socket : {&first, &second, &many.back()}) {
            co_await send(*socket, kProbe);
            CHECK(co_await status(*socket) == 200);
        }
        CHECK(co_await status(many.front()) == 0);
    });
}

TEST_CASE_METHOD(Fixture, "a connection ends with the answer to its last request") {
    auto options = bounded();
    options.max_requests = 2;
    serve(options);
    loop.run([&]() -> asio::awaitable<void> {
        auto greedy = co_await connect();
        std::string many;
        for (int i = 0; i < 100; ++i) many += kProbe;
        co_await send(greedy, many);
        CHECK(co_await status(greedy) == 200);
        auto another = co_await connect();
        co_await send(another, kProbe);
        CHECK(co_await status(another) == 200);
        CHECK(answered == 3);
    });
}

TEST_CASE_METHOD(Fixture, "an old connection is asked for nothing any more") {
    auto options = bounded();
    options.max_age = 100ms;
    serve(options);
    loop.run([&]() -> asio::awaitable<void> {
        auto idle = co_await connect();
        auto busy = co_await connect();
        bool open = true;
        for (int requests = 0; open && requests < 1000; ++requests) {
            co_await send(busy, kProbe);
            open = co_await status(busy) == 200;
            co_await loop.clock->sleep_for(1ms);
        }
        CHECK_FALSE(open);
        CHECK(co_await status(idle) == 0);
    });
}

TEST_CASE_METHOD(Fixture, "a client has so many requests in a minute, unless one shows that it comes first") {
    auto options = bounded();
    options.max_connections = 100;
    options.max_requests_per_minute = 10;
    options.comes_first = [](const base::HttpRequest& request) { return request.target == "/with-key"; };
    serve(options);
    loop.run([&]() -> asio::awaitable<void> {
        const auto ask = [this](std::string target, std::string from) -> asio::awaitable<int> {
            auto socket = co_await connect(from);
            co_await send(socket, "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
            co_return co_await status(socket);
        };
        for (int i = 0; i < 10; ++i) CHECK(co_await ask("/guess", "127.0.0.1") == 200);
        for (int i = 0; i < 10; ++i) CHECK(co_await ask("/guess", "127.0.0.1") == 429);
        CHECK(co_await ask("/with-key", "127.0.0.1") == 200);
        CHECK(co_await ask("/guess", "127.0.0.2") == 200);
        CHECK(answered == 12);
    });
}

TEST_CASE_METHOD(Fixture, "a connection that comes first is closed after all others") {
    auto options = bounded();
    options.comes_first = [](const base::HttpRequest& request) { return request.target == "/with-key"; };
    serve(options);
    loop.run([&]() -> asio::awaitable<void> {
        auto honest = co_await connect();
        co_await send(honest, "GET /with-key HTTP/1.1\r\nHost: x\r\n\r\n");
        CHECK(co_await status(honest) == 200);
        std::deque<tcp::socket> others;
        for (int i = 0; i < 20; ++i) others.push_back(co_await ask_and_read_nothing());
        for (int i = 0; i < 20; ++i) others.push_back(co_await connect());
        co_await send(honest, kProbe);
        CHECK(co_await status(honest) == 200);
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

TEST_CASE_METHOD(Fixture, "a part of a request that never ends is read up to the bound of what is no body") {
    auto options = bounded();
    options.max_body_bytes = 1024 * 1024;
    serve(options);
    const std::size_t most = options.max_body_bytes + 4 * 1024 * 1024;  // including what sockets hold
    loop.run([&]() -> asio::awaitable<void> {
        for (const auto& part : test::endless_parts()) {
            const auto sent = co_await test::send_endlessly(loop, server->port(), part, 100 * 1024 * 1024);
            INFO(part.name);
            CHECK(sent < most);
        }
        CHECK(answered == 0);
    });
}

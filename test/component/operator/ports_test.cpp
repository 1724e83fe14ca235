// Tests what strangers can do to each of the operator's ports, with its real limits.
#include "operator/ports.hpp"

#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <deque>

#include "base/file.hpp"
#include "bootstrap/seed_server.hpp"
#include "operator/probe_server.hpp"
#include "test/component/base/endless_requests.hpp"
#include "test/component/base/loop.hpp"

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

constexpr std::size_t kMiB = 1024 * 1024;
const bootstrap::Token kToken{"abc123", "0123456789abcdef"};

class Machines final : public bootstrap::SeedSource {
public:
    asio::awaitable<std::optional<bootstrap::Seed>> seed(std::string key) override {
        if (!may_be_right(key)) co_return std::nullopt;
        co_return bootstrap::Seed{"#cloud-config\n{}\n", "instance-id: a\n", ""};
    }
    bool may_be_right(std::string_view key) const override { return bootstrap::is_seed_key_of(key, kToken); }
};

struct Port {
    std::string name;
    base::HttpServerOptions options;
    base::HttpHandler handler;
    std::string page;
};

struct Fixture {
    test::Loop loop;
    Machines machines;
    std::unique_ptr<base::HttpServer> server;

    std::vector<Port> ports() {
        auto boot_data = kubenodesmith::boot_data_port();
        boot_data.comes_first = bootstrap::make_seed_precedence(machines);
        kubenodesmith::Pages pages;
        pages.metrics = [] { return std::string(4 * kMiB, 'x'); };
        return {{"probes", kubenodesmith::probe_port(),
                 kubenodesmith::make_probe_handler([] { return kubenodesmith::Readiness{true, "", ""}; }),
                 "/healthz"},
                {"metrics", kubenodesmith::metrics_port(), kubenodesmith::make_metrics_handler(pages),
                 "/metrics"},
                {"boot data", boot_data, bootstrap::make_seed_handler(machines),
                 "/" + bootstrap::seed_key(kToken) + "/seed.iso"}};
    }
    void serve(const Port& port) {
        server = base::make_http_server(loop.context.get_executor(), *loop.clock, port.options, port.handler);
        loop.background.spawn(server->run());
    }
    asio::awaitable<tcp::socket> connect(int receive_buffer = 0) {
        tcp::socket socket(loop.context);
        socket.open(tcp::v4());
        if (receive_buffer > 0) socket.set_option(asio::socket_base::receive_buffer_size(receive_buffer));
        const tcp::endpoint there(asio::ip::make_address("127.0.0.1"), server->port());
        co_await socket.async_connect(there, asio::use_awaitable);
        co_return socket;
    }
    static std::string get(const std::string& page) { return "GET " + page + " HTTP/1.1\r\nHost: x\r\n\r\n"; }
    // Sends as much as the socket takes now.
    static void push(tcp::socket& socket, const std::string& text) {
        boost::system::error_code ignored;
        socket.non_blocking(true, ignored);
        socket.write_some(asio::buffer(text), ignored);
    }
    // Returns the status; 0 if the server hung up.
    asio::awaitable<int> ask(std::string page) {
        auto socket = co_await connect();
        boost::system::error_code error;
        co_await asio::async_write(socket, asio::buffer(get(page)),
                                   asio::redirect_error(asio::use_awaitable, error));
        std::string text;
        co_await asio::async_read_until(socket, asio::dynamic_buffer(text), "\r\n\r\n",
                                        asio::redirect_error(asio::use_awaitable, error));
        co_return error ? 0 : std::stoi(text.substr(std::string("HTTP/1.1 ").size()));
    }
};

}  // namespace

TEST_CASE("the process serves nothing but these ports") {
    const auto source = base::read_file(OPERATOR_FOLDER "/process.cpp");
    std::size_t served = 0;
    for (auto at = source.find("serve(\"--"); at != std::string::npos; at = source.find("serve(\"--", at + 1))
        ++served;
    CHECK(served == Fixture().ports().size());
    CHECK(source.find("HttpServerOptions{") == std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a part of a request that never ends costs no port more than its bound") {
    for (std::size_t i = 0; i < 3; ++i) {
        const auto port = ports()[i];
        DYNAMIC_SECTION(port.name) {
            serve(port);
            loop.run([&]() -> asio::awaitable<void> {
                for (const auto& part : test::endless_parts()) {
                    const auto sent = co_await test::send_endlessly(loop, server->port(), part, 100 * kMiB);
                    INFO(part.name);
                    CHECK(sent < kMiB);
                }
            });
        }
    }
}

TEST_CASE_METHOD(Fixture, "a request with a body is refused with its head") {
    for (std::size_t i = 0; i < 3; ++i) {
        const auto port = ports()[i];
        DYNAMIC_SECTION(port.name) {
            serve(port);
            loop.run([&]() -> asio::awaitable<void> {
                for (const std::string framing : {"Transfer-Encoding: chunked", "transfer-encoding: identity",
                                                  "Transfer-Encoding: gzip, chunked", "Content-Length: 1"}) {
                    auto socket = co_await connect();
                    co_await asio::async_write(
                        socket, asio::buffer("GET / HTTP/1.1\r\nHost: x\r\n" + framing + "\r\n\r\n"),
                        asio::use_awaitable);
                    std::string answer;
                    co_await asio::async_read_until(socket, asio::dynamic_buffer(answer), "\r\n",
                                                    asio::use_awaitable);
                    INFO(framing);
                    CHECK((answer.starts_with("HTTP/1.1 413") || answer.starts_with("HTTP/1.1 400")));
                }
            });
        }
    }
}

TEST_CASE_METHOD(Fixture, "who asks and does not read keeps no port from answering") {
    for (std::size_t i = 0; i < 3; ++i) {
        const auto port = ports()[i];
        DYNAMIC_SECTION(port.name) {
            serve(port);
            std::string pipelined;
            for (int requests = 0; requests < 3000; ++requests) pipelined += get(port.page);
            loop.run([&]() -> asio::awaitable<void> {
                std::deque<tcp::socket> lazy;
                for (int round = 0; round < 10; ++round) {
                    for (int more = 0; more < 30; ++more) {
                        lazy.push_back(co_await connect(2048));
                        push(lazy.back(), pipelined);
                    }
                    for (auto& socket : lazy) push(socket, pipelined);
                    CHECK(co_await ask(port.page) == 200);
                }
            });
        }
    }
}

TEST_CASE_METHOD(Fixture, "thousands who connect and say nothing keep no port from answering") {
    for (std::size_t i = 0; i < 3; ++i) {
        const auto port = ports()[i];
        DYNAMIC_SECTION(port.name) {
            serve(port);
            loop.run([&]() -> asio::awaitable<void> {
                std::deque<tcp::socket> silent;
                for (int connected = 0; connected < 5000; ++connected) {
                    silent.push_back(co_await connect());
                    if (silent.size() > 500) silent.pop_front();
                    if (connected % 250 == 0) CHECK(co_await ask(port.page) == 200);
                }
            });
        }
    }
}

TEST_CASE_METHOD(Fixture, "who guesses keys keeps no machine from its boot data") {
    const auto port = ports()[2];
    serve(port);
    std::string pipelined;
    for (int guess = 0; guess < 300; ++guess)
        pipelined +=
            get("/" + kToken.id + "-" + std::string(32, static_cast<char>('0' + guess % 10)) + "/user-data");
    loop.run([&]() -> asio::awaitable<void> {
        std::deque<tcp::socket> strangers;
        for (int round = 0; round < 20; ++round) {
            for (int more = 0; more < 256; ++more) {
                strangers.push_back(co_await connect());
                push(strangers.back(), pipelined);
                if (strangers.size() > 256) strangers.pop_front();
            }
            CHECK(co_await ask(port.page) == 200);
        }
    });
}

TEST_CASE_METHOD(Fixture, "a probe's connection ends with its answer") {
    const auto port = ports()[0];
    serve(port);
    loop.run([&]() -> asio::awaitable<void> {
        auto socket = co_await connect();
        co_await asio::async_write(socket, asio::buffer(get(port.page)), asio::use_awaitable);
        std::string answer;
        boost::system::error_code error;
        co_await asio::async_read(socket, asio::dynamic_buffer(answer),
                                  asio::redirect_error(asio::use_awaitable, error));
        CHECK(error == asio::error::eof);
        CHECK(answer.find("Connection: close") != std::string::npos);
    });
}

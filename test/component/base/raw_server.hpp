// A TCP server that follows the test's script byte by byte, connection by connection.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <vector>

#include "test/component/base/loop.hpp"

namespace test {

class RawServer {
public:
    using tcp = asio::ip::tcp;

    // Script holds the texts to write, each after the next request head on the same connection.
    using Script = std::vector<std::string>;
    static constexpr const char* kClose = "<close>";
    static constexpr const char* kSilence = "<silence>";

    RawServer(Loop& loop, std::vector<Script> connections)
        : loop_(loop),
          acceptor_(loop.context, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)),
          scripts_(std::move(connections)) {
        loop.background.spawn(run());
    }
    std::string url() const {
        return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    }
    const std::vector<std::string>& requests() const { return requests_; }
    std::size_t accepted() const { return accepted_; }

private:
    asio::awaitable<void> run() {
        for (; accepted_ < scripts_.size();) {
            auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
            loop_.background.spawn(play(std::move(socket), scripts_[accepted_++]));
        }
    }
    asio::awaitable<void> play(tcp::socket socket, Script script) {
        std::string buffer;
        boost::system::error_code error;
        for (const auto& answer : script) {
            if (answer == kClose) co_return;
            auto size = co_await asio::async_read_until(socket, asio::dynamic_buffer(buffer), "\r\n\r\n",
                                                        asio::redirect_error(asio::use_awaitable, error));
            if (error) co_return;
            requests_.push_back(buffer.substr(0, size));
            buffer.erase(0, size);
            if (answer == kSilence) co_await loop_.clock->sleep_for(std::chrono::hours(1));
            co_await asio::async_write(socket, asio::buffer(answer), asio::use_awaitable);
        }
        // The connection stays open until the client ends it.
        co_await asio::async_read_until(socket, asio::dynamic_buffer(buffer), "\r\n\r\n",
                                        asio::redirect_error(asio::use_awaitable, error));
        if (!error) requests_.push_back("unexpected: " + buffer);
    }

    Loop& loop_;
    tcp::acceptor acceptor_;
    std::vector<Script> scripts_;
    std::vector<std::string> requests_;
    std::size_t accepted_ = 0;
};

}  // namespace test

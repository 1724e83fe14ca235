// NetStream is a TCP connection with or without TLS as one type, so that HTTP code is compiled once. It is no
// public interface of base/: its HTTP client and server use it.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <optional>

#include "base/clock.hpp"

namespace base {

class NetStream {
public:
    using executor_type = asio::any_io_executor;
    using Tls = asio::ssl::stream<asio::ip::tcp::socket&>;

    explicit NetStream(const asio::any_io_executor& executor) : socket_(executor) {}
    explicit NetStream(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}
    NetStream(const NetStream&) = delete;  // the TLS layer refers to the socket
    NetStream& operator=(const NetStream&) = delete;

    executor_type get_executor() { return socket_.get_executor(); }
    asio::ip::tcp::socket& socket() { return socket_; }
    // Switches to TLS; the caller performs the handshake. `context` must outlive the stream.
    Tls& start_tls(asio::ssl::context& context) { return tls_.emplace(socket_, context); }
    // Returns null without TLS.
    Tls* tls() { return tls_ ? &*tls_ : nullptr; }

    // Ends every operation in progress with operation_aborted or EOF immediately. The peer sees the
    // connection close.
    void close() {
        boost::system::error_code ignored;
        socket_.close(ignored);
    }

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            [this](auto handler, const Buffers& into) {
                if (tls_) {
                    tls_->async_read_some(into, std::move(handler));
                } else {
                    socket_.async_read_some(into, std::move(handler));
                }
            },
            token, buffers);
    }
    template <class Buffers, class Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        return asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            [this](auto handler, const Buffers& from) {
                if (tls_) {
                    tls_->async_write_some(from, std::move(handler));
                } else {
                    socket_.async_write_some(from, std::move(handler));
                }
            },
            token, buffers);
    }

private:
    asio::ip::tcp::socket socket_;
    std::optional<Tls> tls_;
};

// Deadline closes the stream when the time is up, which ends the operation in progress.
class Deadline {
public:
    Deadline(Clock& clock, TimePoint at, NetStream& stream)
        : alarm_(clock.call_at(at, [this, &stream] {
              expired_ = true;
              stream.close();
          })) {}
    bool expired() const { return expired_; }

private:
    bool expired_ = false;
    std::unique_ptr<Alarm> alarm_;
};

// Throws system_error(operation_aborted) if the calling coroutine has been cancelled. An error of the ended
// operation is then no network failure.
asio::awaitable<void> rethrow_cancellation();

}  // namespace base

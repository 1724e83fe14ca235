// Requests in which one part never ends. There is one for each part of HTTP/1.1's grammar without a length.
// Source: https://www.rfc-editor.org/rfc/rfc9112
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <vector>

#include "test/component/base/loop.hpp"

namespace test {

struct EndlessPart {
    std::string name;
    std::string begin;
    char filler;
};

inline const std::vector<EndlessPart>& endless_parts() {
    static const std::string kHead = "GET / HTTP/1.1\r\nHost: x\r\n";
    static const std::string kChunked = kHead + "Transfer-Encoding: chunked\r\n\r\n";
    static const std::vector<EndlessPart> kParts{
        {"empty lines before the request", "\r\n", '\n'},
        {"method", "G", 'E'},
        {"target", "GET /", 'a'},
        {"version", "GET / HTTP/1.1", '1'},
        {"name of a header", kHead + "X-", 'a'},
        {"value of a header", kHead + "X: ", 'a'},
        {"space before the value of a header", kHead + "X:", ' '},
        {"folded value of a header", kHead + "X: a\r\n ", ' '},
        {"size of a chunk", kChunked, '0'},
        {"extension of a chunk", kChunked + "1;", 'a'},
        {"value of an extension", kChunked + "1;a=\"", 'a'},
        {"extension of the last chunk", kChunked + "0;", 'a'},
        {"name of a trailer", kChunked + "0\r\nX-", 'a'},
        {"value of a trailer", kChunked + "0\r\nX: ", 'a'},
        {"value of a trailer after a chunk", kChunked + "1\r\na\r\n0\r\nX: ", 'a'},
    };
    return kParts;
}

// Returns how many bytes of the part were sent before the server closed the connection, `most` at most.
inline asio::awaitable<std::size_t> send_endlessly(Loop& loop, std::uint16_t port, EndlessPart part,
                                                   std::size_t most) {
    using tcp = asio::ip::tcp;
    tcp::socket socket(loop.context);
    socket.open(tcp::v4());
    socket.set_option(asio::socket_base::send_buffer_size(16 * 1024));
    const tcp::endpoint there(asio::ip::make_address("127.0.0.1"), port);
    co_await socket.async_connect(there, asio::use_awaitable);
    boost::system::error_code error;
    std::size_t sent = co_await asio::async_write(socket, asio::buffer(part.begin),
                                                  asio::redirect_error(asio::use_awaitable, error));
    const std::string piece(64 * 1024, part.filler);
    while (!error && sent < most) {
        sent += co_await asio::async_write(socket, asio::buffer(piece),
                                           asio::redirect_error(asio::use_awaitable, error));
    }
    co_return sent;
}

}  // namespace test

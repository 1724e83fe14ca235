// The connections that a server has accepted: never more than so many. Not a public interface of base/: used
// by its HTTP server.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <cstddef>
#include <list>
#include <memory>

#include "base/net_stream.hpp"

namespace base {

struct HttpConnection {
    explicit HttpConnection(asio::ip::tcp::socket socket) : stream(std::move(socket)) {}
    std::shared_ptr<asio::ssl::context> tls;  // lives as long as the stream that uses it
    NetStream stream;
    boost::beast::flat_buffer buffer;
    bool answering = false;  // a whole request was read, and its answer is not yet written
    bool closed = false;     // to make room; whoever serves it has yet to notice
};

class HttpConnections {
public:
    using Position = std::list<HttpConnection>::iterator;

    explicit HttpConnections(std::size_t most) : most_(most) {}

    // For one more. Where there are as many as there may be, the one without a request for longest is closed;
    // false: all are being answered.
    bool make_room();
    Position add(asio::ip::tcp::socket socket);
    void remove(Position connection);
    bool empty() const { return connections_.empty(); }

    void begin_answer(Position connection) { connection->answering = true; }
    void end_answer(Position connection);

    void close_idle();
    void close_all();

private:
    std::size_t most_;
    std::size_t closed_ = 0;
    std::list<HttpConnection> connections_;  // those without a request: longest first
};

}  // namespace base

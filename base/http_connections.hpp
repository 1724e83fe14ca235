// The accepted connections of a server, and the choice of one to close when there are too many. This is no
// public interface of base/: the HTTP server uses it.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "base/net_stream.hpp"
#include "base/task_group.hpp"

namespace base {

// Returns the identity of a client: an IPv4 address, or the /64 network of an IPv6 address, as a host owns
// all addresses of its network.
std::string client_of(const asio::ip::address& address);

struct HttpConnection {
    enum class Stage {
        idle,   // no part of a request has arrived
        asks,   // part of a request has arrived
        waits,  // waits for the handler
        takes,  // receives the answer
    };

    HttpConnection(asio::ip::tcp::socket socket, std::string from, std::size_t most_buffered, TimePoint now)
        : stream(std::move(socket)),
          buffer(most_buffered),
          client(std::move(from)),
          accepted(now),
          since(now) {}

    std::shared_ptr<asio::ssl::context> tls;  // lives as long as the stream that uses it
    NetStream stream;
    boost::beast::flat_buffer buffer;  // bytes not yet parsed, and those of the next request
    const std::string client;
    const TimePoint accepted;
    Stage stage = Stage::idle;
    TimePoint since;               // start of the stage
    std::size_t answer_bytes = 0;  // size of the current answer
    std::size_t taken_bytes = 0;   // bytes of it that the peer or its socket received
    std::size_t requests = 0;      // number of answered requests
    TaskGroup* handler = nullptr;  // running while the connection waits
    bool comes_first = false;      // closed after all others
    bool closed = false;           // its session has not noticed yet
};

struct HttpConnectionLimits {
    std::size_t connections;
    std::size_t connections_of_client;
    std::size_t unread_bytes;  // of all answers together; a single answer may be longer
};

// HttpConnections always gives a new connection a place. If it has none, it closes a connection of the client
// with the most. It prefers the one idle for longest, then the one sending its request for longest. Next are
// the slowest receiver of an answer and the one waiting for longest. Busy connections leave a quarter of the
// places, and at least two, for new ones.
class HttpConnections {
public:
    using Position = std::list<HttpConnection>::iterator;

    HttpConnections(Clock& clock, HttpConnectionLimits limits) : clock_(clock), limits_(limits) {}

    Position add(asio::ip::tcp::socket socket, std::size_t most_buffered);
    void remove(Position connection);
    bool empty() const { return connections_.empty(); }

    void begin_idling(Position connection) { enter(*connection, HttpConnection::Stage::idle); }
    // Records that the first bytes of a request or a handshake have arrived.
    void begin_request(Position connection);
    // Records that the whole request has arrived.
    void begin_work(Position connection) { enter(*connection, HttpConnection::Stage::waits); }
    // Closes the slowest receivers until all answers together are within the limit.
    void begin_answer(Position connection, std::size_t bytes);

    // Closes connections without a complete request.
    void close_idle();
    void close_all();

private:
    void enter(HttpConnection& connection, HttpConnection::Stage stage);
    // Chooses among the connections for which `may_go` returns true; null: none.
    template <class Predicate>
    HttpConnection* first_to_go(Predicate may_go);
    void close(HttpConnection& connection);
    std::size_t busy() const;  // connections that are not idle
    std::size_t unread() const;

    Clock& clock_;
    HttpConnectionLimits limits_;
    std::list<HttpConnection> connections_;
    std::map<std::string, std::size_t> clients_;  // number of open connections by client
    std::size_t open_ = 0;
};

}  // namespace base

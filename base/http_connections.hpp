// The connections that a server has accepted, and which of them is closed when there are too many. Not a
// public interface of base/: used by its HTTP server.
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

// Returns what counts as one client: an IPv4 address, or the /64 network of an IPv6 address, as a host has
// all addresses of its network.
std::string client_of(const asio::ip::address& address);

struct HttpConnection {
    enum class Stage {
        idle,   // nothing of a request is there
        asks,   // a part of it is
        waits,  // for the handler
        takes,  // the answer
    };

    HttpConnection(asio::ip::tcp::socket socket, std::string from, std::size_t most_buffered, TimePoint now)
        : stream(std::move(socket)),
          buffer(most_buffered),
          client(std::move(from)),
          accepted(now),
          since(now) {}

    std::shared_ptr<asio::ssl::context> tls;  // lives as long as the stream that uses it
    NetStream stream;
    boost::beast::flat_buffer buffer;  // bytes that are not yet parsed, and those of the next request
    const std::string client;
    const TimePoint accepted;
    Stage stage = Stage::idle;
    TimePoint since;               // when the stage began
    std::size_t answer_bytes = 0;  // of the answer that is being taken
    std::size_t taken_bytes = 0;   // of these, what the peer or its socket took
    std::size_t requests = 0;      // that were answered
    TaskGroup* handler = nullptr;  // runs while the connection waits
    bool comes_first = false;      // closed after all others
    bool closed = false;           // its session has yet to notice
};

struct HttpConnectionLimits {
    std::size_t connections;
    std::size_t connections_of_client;
    std::size_t unread_bytes;  // of answers, all together; a single answer may be longer
};

// A new connection always gets a place. If there is none, a connection of the client that has the most is
// closed: the one that has been idle for longest, else the one that has been asking for longest, else the one
// that takes its answer most slowly, else the one that has waited for longest. All that are not idle leave a
// quarter of the places, and two at least, to those that have just come.
class HttpConnections {
public:
    using Position = std::list<HttpConnection>::iterator;

    HttpConnections(Clock& clock, HttpConnectionLimits limits) : clock_(clock), limits_(limits) {}

    Position add(asio::ip::tcp::socket socket, std::size_t most_buffered);
    void remove(Position connection);
    bool empty() const { return connections_.empty(); }

    void begin_idling(Position connection) { enter(*connection, HttpConnection::Stage::idle); }
    // The first bytes of a request or a handshake are there.
    void begin_request(Position connection);
    // The whole request is there.
    void begin_work(Position connection) { enter(*connection, HttpConnection::Stage::waits); }
    // Closes the connections that read most slowly until all answers together are within the limit.
    void begin_answer(Position connection, std::size_t bytes);

    // Closes those whose request is not there.
    void close_idle();
    void close_all();

private:
    void enter(HttpConnection& connection, HttpConnection::Stage stage);
    // Among those that `may_go` returns true for; null: there is none.
    template <class Predicate>
    HttpConnection* first_to_go(Predicate may_go);
    void close(HttpConnection& connection);
    std::size_t busy() const;  // connections that are not idle
    std::size_t unread() const;

    Clock& clock_;
    HttpConnectionLimits limits_;
    std::list<HttpConnection> connections_;
    std::map<std::string, std::size_t> clients_;  // how many open connections each has
    std::size_t open_ = 0;
};

}  // namespace base

#include "base/http_server.hpp"

#include <netinet/tcp.h>

#include <array>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/http_connections.hpp"
#include "base/http_rates.hpp"
#include "base/http_wire.hpp"
#include "base/log.hpp"
#include "base/net_stream.hpp"
#include "base/task_group.hpp"
#include "base/tls.hpp"

namespace base {
namespace {

using asio::ip::tcp;
namespace http = boost::beast::http;
using RequestParser = http::request_parser<http::string_body>;

constexpr std::size_t kMostDiscarded = 64 * 1024;  // of a refused request, besides its body
constexpr std::size_t kPieceBytes = 64 * 1024;     // of an answer, per write

// Returns the answer to bytes that are no valid HTTP request; nullopt: the peer is gone or silent.
std::optional<HttpResponse> refusal(const boost::system::error_code& error) {
    HttpResponse response;
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
        response.status = 431;
    } else if (error == http::error::body_limit) {
        response.status = 413;
    } else if (error.category() == make_error_code(http::error::bad_method).category() &&
               error != http::error::end_of_stream && error != http::error::partial_message) {
        response.status = 400;
    } else {
        return std::nullopt;
    }
    return response;
}

HttpRequest head_of(const RequestParser& parser) {
    const auto& message = parser.get();
    HttpRequest request;
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    for (const auto& field : message) {
        request.headers.add(std::string(field.name_string()), std::string(field.value()));
    }
    return request;
}

class Server final : public HttpServer {
public:
    Server(const asio::any_io_executor& executor, Clock& clock, HttpServerOptions options,
           HttpHandler handler)
        : clock_(clock),
          options_(std::move(options)),
          handler_(std::move(handler)),
          acceptor_(executor),
          connections_(clock, {options_.max_connections, options_.max_connections_of_client,
                               options_.max_unread_bytes}),
          rates_(options_.max_requests_per_minute),
          sessions_(executor),
          session_ended_(executor) {
        if (options_.key_pair) {
            key_pair_ = options_.key_pair();
            tls_ = server_context(key_pair_);
        }
        try {
            listen();
        } catch (const boost::system::system_error& error) {
            const auto where = options_.address.empty() ? "all addresses," : options_.address;
            throw std::runtime_error("listening on " + where + " port " + std::to_string(options_.port) +
                                     ": " + error.code().message());
        }
        port_ = acceptor_.local_endpoint().port();
    }

    std::uint16_t port() const override { return port_; }

    asio::awaitable<void> run() override {
        bool cancelled = false;
        try {
            co_await accept_all();
        } catch (const boost::system::system_error&) {
            cancelled = true;
        }
        co_await asio::this_coro::reset_cancellation_state();
        co_await drain();
        if (cancelled) throw boost::system::system_error(asio::error::operation_aborted);
    }

private:
    void listen() {
        tcp::endpoint endpoint(tcp::v6(), options_.port);
        if (options_.address.empty()) {
            boost::system::error_code without_ipv6;
            acceptor_.open(tcp::v6(), without_ipv6);
            if (without_ipv6)
                endpoint.address(asio::ip::address_v4::any());
            else
                acceptor_.set_option(asio::ip::v6_only(false));
        } else {
            endpoint.address(asio::ip::make_address(options_.address));
        }
        if (!acceptor_.is_open()) acceptor_.open(endpoint.protocol());
        acceptor_.set_option(tcp::acceptor::reuse_address(true));
        if (options_.socket_buffer_bytes > 0) {  // connections inherit them from here
            const auto bytes = static_cast<int>(options_.socket_buffer_bytes);
            acceptor_.set_option(asio::socket_base::send_buffer_size(bytes));
            acceptor_.set_option(asio::socket_base::receive_buffer_size(bytes));
        }
        if (options_.defers_accept) {  // without support the system accepts immediately
            const int seconds = 5;
            ::setsockopt(acceptor_.native_handle(), IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds);
        }
        acceptor_.bind(endpoint);
        acceptor_.listen();
    }

    asio::awaitable<void> accept_all() {
        for (;;) {
            boost::system::error_code error;
            auto socket = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
            if (!error) {
                sessions_.spawn(session(connections_.add(std::move(socket), options_.max_header_bytes)));
                continue;
            }
            co_await rethrow_cancellation();
            log::warning("Could not accept a connection", {{"error", error.message()}});
            co_await clock_.sleep_for(
                std::chrono::milliseconds(100));  // file descriptors are probably exhausted
        }
    }

    asio::awaitable<void> drain() {
        closing_ = true;
        acceptor_.close();
        connections_.close_idle();
        const auto deadline = clock_.now() + options_.drain_timeout;
        while (!connections_.empty() && clock_.now() < deadline) {
            co_await session_ended_.wait_until(clock_, deadline);
        }
        connections_.close_all();
        sessions_.stop();
        co_await sessions_.join();
    }

    asio::awaitable<void> session(HttpConnections::Position connection) {
        struct Remove {
            Server& server;
            HttpConnections::Position connection;
            ~Remove() {
                server.connections_.remove(connection);
                server.session_ended_.notify_all();
            }
        } remove{*this, connection};
        boost::system::error_code ignored;
        connection->stream.socket().set_option(tcp::no_delay(true), ignored);
        bool open = co_await start_tls(connection);
        while (open && !closing_) open = co_await serve_one(connection);
        co_await end_tls(*connection);
    }

    static std::shared_ptr<asio::ssl::context> server_context(const KeyPair& pair) {
        return std::make_shared<asio::ssl::context>(make_server_context(pair));
    }

    // Uses a renewed certificate from now on, if it is usable.
    void renew_certificate() {
        try {
            auto pair = options_.key_pair();
            if (pair == key_pair_) return;
            tls_ = server_context(pair);
            key_pair_ = std::move(pair);
            log::info("Serving with a renewed certificate", {{"port", port_}});
        } catch (const std::exception& error) {
            log::warning("Could not use the renewed certificate", {{"error", error.what()}});
        }
    }

    asio::awaitable<bool> start_tls(HttpConnections::Position position) {
        if (!tls_) co_return true;
        auto& connection = *position;
        const bool says_something = co_await has_input(connection);
        if (!says_something) co_return false;
        connections_.begin_request(position);
        renew_certificate();
        connection.tls = tls_;
        Deadline limit(clock_, clock_.now() + options_.request_timeout, connection.stream);
        auto& tls = connection.stream.start_tls(*connection.tls);
        boost::system::error_code error;
        co_await tls.async_handshake(asio::ssl::stream_base::server,
                                     asio::redirect_error(asio::use_awaitable, error));
        co_return !error;
    }

    asio::awaitable<bool> has_input(HttpConnection& connection) {
        boost::system::error_code error;
        Deadline limit(clock_, clock_.now() + options_.idle_timeout, connection.stream);
        co_await connection.stream.socket().async_wait(tcp::socket::wait_read,
                                                       asio::redirect_error(asio::use_awaitable, error));
        co_return !error;
    }

    // Sends TLS's close_notify, so that the client knows that the last response is complete. Does not wait
    // long for an answer.
    asio::awaitable<void> end_tls(HttpConnection& connection) {
        auto* tls = connection.stream.tls();
        if (!tls || !connection.stream.socket().is_open()) co_return;
        Deadline limit(clock_, clock_.now() + std::chrono::milliseconds(200), connection.stream);
        boost::system::error_code ignored;
        co_await tls->async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
    }

    // Returns false if the connection has ended.
    asio::awaitable<bool> serve_one(HttpConnections::Position position) {
        auto& connection = *position;
        RequestParser parser;
        parser.header_limit(static_cast<std::uint32_t>(options_.max_header_bytes));
        parser.body_limit(options_.max_body_bytes);
        std::optional<HttpResponse> refused;
        const auto error = co_await read_request(position, parser, refused);
        if (error) refused = refusal(error);
        if (refused) {
            co_await respond(position, std::move(*refused), "", false);
            co_await discard_input(connection);
        }
        if (error || refused) co_return false;
        auto request = head_of(parser);
        request.body = std::move(parser.get().body());
        auto method = request.method;
        connections_.begin_work(position);
        auto response = co_await answer_to(connection, std::move(request));
        if (!response) co_return false;
        ++connection.requests;
        const bool keep = parser.keep_alive() && response->headers.find("Connection") != "close" &&
                          !closing_ && may_ask_again(connection);
        const bool written = co_await respond(position, std::move(*response), std::move(method), keep);
        connections_.begin_idling(position);
        co_return (keep && written);
    }

    bool may_ask_again(const HttpConnection& connection) const {
        const bool one_more = options_.max_requests == 0 || connection.requests < options_.max_requests;
        return one_more && clock_.now() < connection.accepted + options_.max_age;
    }

    // Returns a response to refuse the request without its body.
    std::optional<HttpResponse> judge_head(HttpConnection& connection, const RequestParser& parser) {
        // The end of such a body is unknown, and its pieces would count as no body.
        if (options_.max_body_bytes == 0 && parser.get().count(http::field::transfer_encoding) > 0)
            return refusal(http::error::body_limit);
        const auto head = head_of(parser);
        connection.comes_first = options_.comes_first && options_.comes_first(head);
        if (!rates_.admit(connection.client, clock_.now()) && !connection.comes_first) {
            HttpResponse response;
            response.status = 429;
            response.headers.set("Retry-After", "60");
            return response;
        }
        return options_.refuse ? options_.refuse(head) : std::nullopt;
    }

    // Stops early if the head alone is refused.
    asio::awaitable<boost::system::error_code> read_request(HttpConnections::Position position,
                                                            RequestParser& parser,
                                                            std::optional<HttpResponse>& refused) {
        auto& connection = *position;
        auto error = co_await first_bytes(connection);
        if (!error) connections_.begin_request(position);
        bool continue_sent = false, judged = false;
        Deadline limit(clock_, clock_.now() + options_.request_timeout, connection.stream);
        while (!error && !parser.is_done() && !refused) {
            co_await http::async_read_some(connection.stream, connection.buffer, parser,
                                           asio::redirect_error(asio::use_awaitable, error));
            if (!judged && parser.is_header_done()) {
                judged = true;
                refused = judge_head(connection, parser);
                if (refused) error = {};
            }
            const bool waits = parser.is_header_done() && !parser.is_done() && !continue_sent &&
                               boost::beast::iequals(parser.get()[http::field::expect], "100-continue");
            if (error || refused || !waits) continue;
            continue_sent = true;
            co_await asio::async_write(connection.stream, asio::buffer("HTTP/1.1 100 Continue\r\n\r\n", 25),
                                       asio::redirect_error(asio::use_awaitable, error));
        }
        co_return error;
    }

    asio::awaitable<boost::system::error_code> first_bytes(HttpConnection& connection) {
        boost::system::error_code error;
        if (connection.buffer.size() > 0) co_return error;
        const auto until =
            std::min(clock_.now() + options_.idle_timeout, connection.accepted + options_.max_age);
        Deadline limit(clock_, until, connection.stream);
        const auto size =
            co_await connection.stream.async_read_some(connection.buffer.prepare(options_.max_header_bytes),
                                                       asio::redirect_error(asio::use_awaitable, error));
        connection.buffer.commit(size);
        co_return error;
    }

    // Reads the remaining input. If a connection is closed with unread input, TCP resets it, and the peer may
    // lose the response. A peer that sends more than any limit allows loses it.
    asio::awaitable<void> discard_input(HttpConnection& connection) {
        Deadline limit(clock_, clock_.now() + std::chrono::seconds(2), connection.stream);
        auto most = options_.max_body_bytes + kMostDiscarded;
        std::array<char, 4096> buffer;
        boost::system::error_code error;
        while (!error && most > 0) {
            const auto piece = asio::buffer(buffer, most);
            most -= co_await connection.stream.async_read_some(
                piece, asio::redirect_error(asio::use_awaitable, error));
        }
    }

    // Returns nullopt to close the connection.
    asio::awaitable<std::optional<HttpResponse>> answer_to(HttpConnection& connection, HttpRequest request) {
        std::optional<HttpResponse> response;
        TaskGroup group(co_await asio::this_coro::executor);
        struct Handling {
            Handling(HttpConnection& to, TaskGroup& by) : connection(to) { connection.handler = &by; }
            ~Handling() { connection.handler = nullptr; }
            HttpConnection& connection;
        } handling(connection, group);
        group.spawn(handle(std::move(request), response));
        co_await group.join();
        co_return response;
    }

    asio::awaitable<void> handle(HttpRequest request, std::optional<HttpResponse>& response) {
        const auto subject = request.method + ' ' + request.target.substr(0, request.target.find('?'));
        std::string failure;
        try {
            response = co_await handler_(std::move(request));
            co_return;
        } catch (const TransportError&) {
            co_return;
        } catch (const std::exception& error) {
            failure = error.what();
        }
        co_await rethrow_cancellation();
        log::error("Failed to answer an HTTP request", {{"request", subject}, {"error", failure}});
        response.emplace().status = 500;
    }

    asio::awaitable<bool> respond(HttpConnections::Position position, HttpResponse response,
                                  std::string method, bool keep) {
        auto& connection = *position;
        const auto head = response_head(response, keep);
        if (method == "HEAD") response.body.clear();
        connections_.begin_answer(position, head.size() + response.body.size());
        Deadline limit(clock_, clock_.now() + options_.answer_timeout, connection.stream);
        const auto note_taken = [&connection](const boost::system::error_code& error, std::size_t taken) {
            connection.taken_bytes = taken;
            return error ? 0 : kPieceBytes;
        };
        const std::array<asio::const_buffer, 2> parts{asio::buffer(head), asio::buffer(response.body)};
        boost::system::error_code error;
        co_await asio::async_write(connection.stream, parts, note_taken,
                                   asio::redirect_error(asio::use_awaitable, error));
        co_return !error;
    }

    Clock& clock_;
    HttpServerOptions options_;
    HttpHandler handler_;
    KeyPair key_pair_;
    std::shared_ptr<asio::ssl::context> tls_;  // null: plain HTTP
    tcp::acceptor acceptor_;
    std::uint16_t port_ = 0;
    bool closing_ = false;
    HttpConnections connections_;
    HttpRates rates_;
    TaskGroup sessions_;
    ConditionVariable session_ended_;
};

}  // namespace

std::unique_ptr<HttpServer> make_http_server(asio::any_io_executor executor, Clock& clock,
                                             HttpServerOptions options, HttpHandler handler) {
    return std::make_unique<Server>(executor, clock, std::move(options), std::move(handler));
}

}  // namespace base

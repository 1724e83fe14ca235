#include "base/http_server.hpp"

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

// The answer to bytes that are not a valid HTTP request; nullopt: the peer is gone or silent.
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
          connections_(options_.max_connections),
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
        acceptor_.bind(endpoint);
        acceptor_.listen();
    }

    asio::awaitable<void> accept_all() {
        for (;;) {
            boost::system::error_code error;
            auto socket = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
            if (!error) {
                if (connections_.make_room()) sessions_.spawn(session(std::move(socket)));
                continue;
            }
            co_await rethrow_cancellation();
            log::warning("Could not accept a connection", {{"error", error.message()}});
            co_await clock_.sleep_for(
                std::chrono::milliseconds(100));  // out of file descriptors, most likely
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

    asio::awaitable<void> session(tcp::socket socket) {
        const auto connection = connections_.add(std::move(socket));
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
        bool open = co_await start_tls(*connection);
        while (open && !closing_) open = co_await serve_one(connection);
        co_await end_tls(*connection);
    }

    static std::shared_ptr<asio::ssl::context> server_context(const KeyPair& pair) {
        return std::make_shared<asio::ssl::context>(make_server_context(pair));
    }

    // A certificate that was renewed is used from now on; one that cannot be used is not.
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

    asio::awaitable<bool> start_tls(HttpConnection& connection) {
        if (!tls_) co_return true;
        renew_certificate();
        connection.tls = tls_;
        Deadline limit(clock_, clock_.now() + options_.request_timeout, connection.stream);
        auto& tls = connection.stream.start_tls(*connection.tls);
        boost::system::error_code error;
        co_await tls.async_handshake(asio::ssl::stream_base::server,
                                     asio::redirect_error(asio::use_awaitable, error));
        co_return !error;
    }

    // Says goodbye, so that the client knows the last response to be complete; does not insist on an answer.
    asio::awaitable<void> end_tls(HttpConnection& connection) {
        auto* tls = connection.stream.tls();
        if (!tls || !connection.stream.socket().is_open()) co_return;
        Deadline limit(clock_, clock_.now() + std::chrono::milliseconds(200), connection.stream);
        boost::system::error_code ignored;
        co_await tls->async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
    }

    // False: the connection has ended.
    asio::awaitable<bool> serve_one(HttpConnections::Position position) {
        auto& connection = *position;
        RequestParser parser;
        parser.header_limit(static_cast<std::uint32_t>(options_.max_header_bytes));
        parser.body_limit(options_.max_body_bytes);
        std::optional<HttpResponse> refused;
        const auto error = co_await read_request(connection, parser, refused);
        if (error) refused = refusal(error);
        if (refused) {
            co_await respond(connection, std::move(*refused), "", false);
            co_await discard_input(connection);
        }
        if (error || refused) co_return false;
        connections_.begin_answer(position);
        auto request = head_of(parser);
        request.body = std::move(parser.get().body());
        auto method = request.method;
        auto response = co_await answer_to(std::move(request));
        if (!response) co_return false;
        auto asked_to_close = response->headers.find("Connection") == "close";
        bool keep = parser.keep_alive() && !asked_to_close && !closing_;
        bool written = co_await respond(connection, std::move(*response), std::move(method), keep);
        connections_.end_answer(position);
        co_return keep&& written;
    }

    // Stops early when the head alone is refused.
    asio::awaitable<boost::system::error_code> read_request(HttpConnection& connection, RequestParser& parser,
                                                            std::optional<HttpResponse>& refused) {
        auto error = co_await first_bytes(connection);
        bool continue_sent = false, judged = !options_.refuse;
        Deadline limit(clock_, clock_.now() + options_.request_timeout, connection.stream);
        while (!error && !parser.is_done() && !refused) {
            co_await http::async_read_some(connection.stream, connection.buffer, parser,
                                           asio::redirect_error(asio::use_awaitable, error));
            if (!judged && parser.is_header_done()) {
                judged = true;
                refused = options_.refuse(head_of(parser));
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
        Deadline limit(clock_, clock_.now() + options_.idle_timeout, connection.stream);
        const auto size =
            co_await connection.stream.async_read_some(connection.buffer.prepare(options_.max_header_bytes),
                                                       asio::redirect_error(asio::use_awaitable, error));
        connection.buffer.commit(size);
        co_return error;
    }

    // Closing with unread input makes TCP reset the connection, and the peer may lose the response.
    asio::awaitable<void> discard_input(HttpConnection& connection) {
        Deadline limit(clock_, clock_.now() + std::chrono::seconds(2), connection.stream);
        std::array<char, 16384> buffer;
        boost::system::error_code error;
        while (!error) {
            co_await connection.stream.async_read_some(asio::buffer(buffer),
                                                       asio::redirect_error(asio::use_awaitable, error));
        }
    }

    // nullopt: hang up.
    asio::awaitable<std::optional<HttpResponse>> answer_to(HttpRequest request) {
        const auto subject = request.method + ' ' + request.target.substr(0, request.target.find('?'));
        std::string failure;
        try {
            co_return co_await handler_(std::move(request));
        } catch (const TransportError&) {
            co_return std::nullopt;
        } catch (const std::exception& error) {
            failure = error.what();
        }
        co_await rethrow_cancellation();
        log::error("Failed to answer an HTTP request", {{"request", subject}, {"error", failure}});
        HttpResponse response;
        response.status = 500;
        co_return response;
    }

    asio::awaitable<bool> respond(HttpConnection& connection, HttpResponse response, std::string method,
                                  bool keep) {
        auto text = response_head(response, keep);
        if (method != "HEAD") text += response.body;
        Deadline limit(clock_, clock_.now() + options_.idle_timeout, connection.stream);
        boost::system::error_code error;
        co_await asio::async_write(connection.stream, asio::buffer(text),
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
    TaskGroup sessions_;
    Event session_ended_;
};

}  // namespace

std::unique_ptr<HttpServer> make_http_server(asio::any_io_executor executor, Clock& clock,
                                             HttpServerOptions options, HttpHandler handler) {
    return std::make_unique<Server>(executor, clock, std::move(options), std::move(handler));
}

}  // namespace base

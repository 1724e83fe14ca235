#include "base/connector.hpp"

#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <sys/socket.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <stdexcept>

#include "base/name_lookup.hpp"
#include "base/net_stream.hpp"
#include "base/tls.hpp"

namespace base {
namespace {

using asio::ip::tcp;
namespace http = boost::beast::http;

// Enables keepalive, among others: a vanished peer is noticed after 60 s of silence.
void set_socket_options(tcp::socket& socket) {
    const auto set = [fd = socket.native_handle()](int level, int name, int value) {
        setsockopt(fd, level, name, &value, sizeof value);
    };
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
    set(IPPROTO_TCP, TCP_KEEPCNT, 3);
    set(IPPROTO_TCP, TCP_USER_TIMEOUT, 60'000);
}

std::string base64(const std::string& text) {
    std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');
    auto size =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
    out.resize(static_cast<std::size_t>(size));
    return out;
}

std::string tunnel_request(const std::string& authority, const Url& proxy) {
    auto request = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n";
    if (!proxy.user.empty()) {
        request += "Proxy-Authorization: Basic " + base64(proxy.user + ':' + proxy.password) + "\r\n";
    }
    return request + "\r\n";
}

Url parse_option(const char* option, const std::string& text) {
    try {
        return parse_url(text);
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(std::string(option) + ": " + error.what());
    }
}

std::string reason_of(const Deadline& limit, const boost::system::error_code& error) {
    return limit.expired() ? "timed out" : error.message();
}

}  // namespace

asio::awaitable<void> rethrow_cancellation() {
    auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) {
        throw boost::system::system_error(asio::error::operation_aborted);
    }
}

Connector::Connector(asio::any_io_executor executor, Clock& clock, HttpClientOptions options)
    : executor_(std::move(executor)),
      clock_(clock),
      options_(std::move(options)),
      url_(parse_option("URL", options_.url)) {
    if (!options_.proxy_url.empty()) {
        if (!options_.proxy_url.starts_with("http://"))
            throw std::invalid_argument(
                "proxy URL: only HTTP proxies are supported, given as http://host:port");
        proxy_ = parse_option("proxy URL", options_.proxy_url);
    }
    if (url_.scheme == "https") tls_ = make_client_context(options_.tls);
}

asio::awaitable<std::unique_ptr<NetStream>> Connector::connect(TimePoint deadline) {
    const auto& first_hop = proxy_ ? *proxy_ : url_;
    auto stream = co_await connect_tcp(first_hop.host, first_hop.port, deadline);
    Deadline limit(clock_, deadline, *stream);
    std::string failure;
    try {
        if (proxy_) co_await open_tunnel(*stream);
        if (tls_) co_await start_tls(*stream);
        co_return stream;
    } catch (const std::runtime_error& error) {
        failure = error.what();
    }
    co_await rethrow_cancellation();
    throw std::runtime_error(limit.expired() ? "connecting to " + url_.authority() + ": timed out" : failure);
}

asio::awaitable<std::vector<asio::ip::address>> Connector::resolve(std::string host, TimePoint deadline) {
    boost::system::error_code not_an_address;
    auto address = asio::ip::make_address(host, not_an_address);
    if (!not_an_address) co_return std::vector{address};
    auto addresses = co_await look_up(executor_, clock_, host, deadline);
    if (addresses.empty()) throw std::runtime_error("looking up " + host + ": no such host is known");
    co_return addresses;
}

asio::awaitable<std::unique_ptr<NetStream>> Connector::connect_tcp(std::string host, std::uint16_t port,
                                                                   TimePoint deadline) {
    const auto addresses = co_await resolve(host, deadline);
    std::string failures;
    auto untried = static_cast<int>(addresses.size());
    for (const auto& address : addresses) {
        const tcp::endpoint endpoint(address, port);
        auto stream = std::make_unique<NetStream>(executor_);
        // One unreachable address must not use up the time of the others.
        Deadline limit(clock_, clock_.now() + (deadline - clock_.now()) / untried--, *stream);
        boost::system::error_code error;
        co_await stream->socket().async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
        if (!error) {
            set_socket_options(stream->socket());
            co_return stream;
        }
        co_await rethrow_cancellation();
        failures += failures.empty() ? "" : "; ";
        failures += endpoint.address().to_string() + ": " + reason_of(limit, error);
    }
    throw std::runtime_error("connecting to " + host + " port " + std::to_string(port) + ": " + failures);
}

asio::awaitable<void> Connector::open_tunnel(NetStream& stream) {
    auto request = tunnel_request(url_.authority(), *proxy_);
    auto from = "proxy " + proxy_->authority() + ": ";
    boost::system::error_code error;
    co_await asio::async_write(stream, asio::buffer(request),
                               asio::redirect_error(asio::use_awaitable, error));
    if (error) throw std::runtime_error(from + error.message());
    boost::beast::flat_buffer buffer;
    http::response_parser<http::empty_body> parser;
    parser.skip(true);  // after a 2xx to CONNECT follows the tunnel, not a body
    co_await http::async_read_header(stream, buffer, parser,
                                     asio::redirect_error(asio::use_awaitable, error));
    if (error) throw std::runtime_error(from + error.message());
    if (const auto status = parser.get().result_int(); status / 100 != 2) {
        throw std::runtime_error(from + "refused to connect to " + url_.authority() + " with status " +
                                 std::to_string(status));
    }
}

asio::awaitable<void> Connector::start_tls(NetStream& stream) {
    const auto& name = options_.tls.server_name.empty() ? url_.host : options_.tls.server_name;
    ServerVerification verification(options_.tls, name);
    auto& tls = stream.start_tls(*tls_);
    verification.prepare(tls);
    boost::system::error_code error;
    co_await tls.async_handshake(asio::ssl::stream_base::client,
                                 asio::redirect_error(asio::use_awaitable, error));
    const auto host = url_.authority() + ": ";
    if (error) throw std::runtime_error(host + verification.describe(tls, error));
    try {
        verification.check_pin(tls);
    } catch (const std::runtime_error& mismatch) {
        throw std::runtime_error(host + mismatch.what());
    }
}

asio::awaitable<std::string> presented_fingerprint(asio::any_io_executor executor, Clock& clock,
                                                   HttpClientOptions options) {
    options.tls.insecure_skip_verify = true;
    Connector connector(std::move(executor), clock, std::move(options));
    const auto deadline = clock.now() + connector.options().connect_timeout;
    const auto stream = co_await connector.connect(deadline);
    if (!stream->tls()) throw std::runtime_error(connector.url().authority() + ": not a TLS connection");
    co_return presented_by(*stream->tls());
}

}  // namespace base

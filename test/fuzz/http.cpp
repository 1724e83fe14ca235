// Fuzzes the parser of a server's bytes on the wire.
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>
#include <system_error>

#include "base/http_wire.hpp"
#include "test/fuzz/targets.hpp"

namespace fuzz {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMostBody = 10'000;
constexpr std::size_t kMostInput = 60'000;  // capacity of the socket while no reader takes bytes

// Returns a connection that delivers these bytes and then ends.
std::optional<asio::ip::tcp::socket> connection_with(asio::io_context& context, std::string_view input) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
        throw std::system_error(errno, std::system_category());
    auto written = ::write(ends[1], input.data(), input.size());
    ::close(ends[1]);
    asio::ip::tcp::socket socket(context);
    socket.assign(asio::ip::tcp::v4(), ends[0]);
    if (written != static_cast<ssize_t>(input.size())) return std::nullopt;
    return socket;
}

asio::awaitable<void> read_response(base::NetStream& stream) {
    base::Exchange exchange(stream, kMostBody);
    base::HttpRequest request;
    auto failed = co_await exchange.read_head(request);
    if (failed) co_return;
    auto head = exchange.take_head();
    check(head.status >= 100 && head.status <= 999, "a status has three digits");
    std::string body;
    for (;;) {
        auto before = body.size();
        failed = co_await exchange.read_body(body);
        if (failed || body.size() == before) break;
        check(body.size() <= kMostBody, "a body is no longer than allowed");
    }
}

}  // namespace

void http_response(std::string_view input) {
    if (input.size() > kMostInput) return;
    asio::io_context context(1);
    auto socket = connection_with(context, input);
    if (!socket) return;
    base::NetStream stream(std::move(*socket));
    std::exception_ptr failure;
    asio::co_spawn(context, read_response(stream), [&failure](std::exception_ptr error) { failure = error; });
    context.run();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace fuzz

#include "base/http_wire.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <stdexcept>

namespace base {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kPiece = 64 * 1024;
constexpr std::uint32_t kMaxHeaderBytes = 64 * 1024;

// Throws if a value contains a line break, which would start a second header or request. Values may come from
// untrusted sources.
void refuse_breaks(std::string_view text, std::string_view what, bool spaces_too) {
    const bool bad = std::ranges::any_of(text, [spaces_too](char c) {
        return c == '\r' || c == '\n' || c == '\0' || (spaces_too && (c == ' ' || c == '\t'));
    });
    if (bad) throw std::invalid_argument(std::string(what) + " holds a line break or a space");
}

void append_headers(std::string& out, const HttpHeaders& headers) {
    for (const auto& [name, value] : headers.all()) {
        refuse_breaks(name, "the name of an HTTP header", true);
        refuse_breaks(value, "HTTP header " + name, false);
        out += name + ": " + value + "\r\n";
    }
}

}  // namespace

std::string request_head(const HttpRequest& request, const std::string& authority) {
    refuse_breaks(request.method, "the HTTP method", true);
    refuse_breaks(request.target, "the target of an HTTP request", true);
    auto head = request.method + ' ' + request.target + " HTTP/1.1\r\n";
    if (!request.headers.find("Host")) head += "Host: " + authority + "\r\n";
    if (!request.headers.find("User-Agent")) head += "User-Agent: kubenodesmith\r\n";
    append_headers(head, request.headers);
    const bool has_body = !request.body.empty() || (request.method != "GET" && request.method != "HEAD");
    if (has_body) head += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
    return head + "\r\n";
}

std::string response_head(const HttpResponse& response, bool keep_alive) {
    auto reason =
        response.reason.empty()
            ? std::string(http::obsolete_reason(http::int_to_status(static_cast<unsigned>(response.status))))
            : response.reason;
    refuse_breaks(reason, "the reason of an HTTP response", false);
    auto head = "HTTP/1.1 " + std::to_string(response.status) + ' ' + reason + "\r\n";
    append_headers(head, response.headers);
    const bool may_have_body = response.status != 204 && response.status != 304;
    if (may_have_body) head += "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
    if (!keep_alive && !response.headers.find("Connection")) head += "Connection: close\r\n";
    return head + "\r\n";
}

Exchange::Exchange(NetStream& stream, std::optional<std::uint64_t> body_limit)
    : stream_(stream), body_limit_(body_limit) {
    make_parser();
}

void Exchange::make_parser() {
    parser_ = std::make_unique<Parser>();
    parser_->header_limit(kMaxHeaderBytes);
    if (body_limit_) {
        parser_->body_limit(*body_limit_);
    } else {
        parser_->body_limit(boost::none);
    }
}

asio::awaitable<boost::system::error_code> Exchange::write(std::string head, const HttpRequest& request) {
    boost::system::error_code error;
    std::array<asio::const_buffer, 2> parts{asio::buffer(head), asio::buffer(request.body)};
    if (request.body.size() <= kPiece) {  // one TLS record and one packet instead of two
        head += request.body;
        parts = {asio::buffer(head), asio::const_buffer()};
    }
    written_ = co_await asio::async_write(stream_, parts, asio::redirect_error(asio::use_awaitable, error));
    co_return error;
}

asio::awaitable<boost::system::error_code> Exchange::read_head(const HttpRequest& request) {
    boost::system::error_code error;
    for (;;) {
        if (request.method == "HEAD") parser_->skip(true);
        co_await http::async_read_header(stream_, buffer_, *parser_,
                                         asio::redirect_error(asio::use_awaitable, error));
        if (error || parser_->get().result_int() >= 200) co_return error;
        make_parser();
    }
}

asio::awaitable<boost::system::error_code> Exchange::read_body(std::string& into) {
    boost::system::error_code error;
    // Bytes after the end are not part of the response, so the parser must not get them.
    if (parser_->is_done()) co_return error;
    const auto size_before = into.size();
    parser_->eager(true);  // parse all received chunks together
    for (;;) {
        if (buffer_.size() > 0) error = parse_body(into);
        if (error || parser_->is_done() || into.size() > size_before) co_return error;
        error = co_await receive();
        if (error) co_return error;
    }
}

// Parses the received part of the body. A watch sends most changes in separate chunks, and restarting the
// parser for each costs more than decoding.
boost::system::error_code Exchange::parse_body(std::string& into) {
    boost::system::error_code error;
    if (!piece_) piece_ = std::make_unique_for_overwrite<char[]>(kPiece);
    auto& body = parser_->get().body();
    body.data = piece_.get();
    body.size = kPiece;
    buffer_.consume(parser_->put(buffer_.data(), error));
    into.append(piece_.get(), kPiece - body.size);
    if (error == http::error::need_buffer || error == http::error::need_more) error = {};
    return error;
}

asio::awaitable<boost::system::error_code> Exchange::receive() {
    boost::system::error_code error;
    if (buffer_.size() >= kPiece) co_return http::error::buffer_overflow;  // the head of a chunk is too long
    const auto room = buffer_.prepare(kPiece - buffer_.size());
    buffer_.commit(co_await stream_.async_read_some(room, asio::redirect_error(asio::use_awaitable, error)));
    if (error == asio::error::eof) {
        error = {};
        parser_->put_eof(error);
    }
    co_return error;
}

HttpResponse Exchange::take_head() {
    const auto& message = parser_->get();
    HttpResponse response;
    response.status = static_cast<int>(message.result_int());
    response.reason = std::string(message.reason());
    for (const auto& field : message) {
        response.headers.add(std::string(field.name_string()), std::string(field.value()));
    }
    return response;
}

}  // namespace base

// One request and its response on one connection. This is no public interface of base/.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <memory>

#include "base/http.hpp"
#include "base/net_stream.hpp"

namespace base {

// Returns the request line and headers. Adds Host, Content-Length and User-Agent if absent. Throws
// std::invalid_argument if a value would break the framing (line breaks, spaces in the target).
std::string request_head(const HttpRequest& request, const std::string& authority);
std::string response_head(const HttpResponse& response, bool keep_alive);

class Exchange {
public:
    // `body_limit` nullopt: no limit. The stream must outlive the exchange.
    Exchange(NetStream& stream, std::optional<std::uint64_t> body_limit);

    // Network errors are returned as error codes. After a failed write, still read: a server may answer and
    // close before it has read a long body.
    asio::awaitable<boost::system::error_code> write(std::string head, const HttpRequest& request);
    asio::awaitable<boost::system::error_code> read_head(const HttpRequest& request);
    // Appends the next piece to `into`. Nothing appended without an error means the end.
    asio::awaitable<boost::system::error_code> read_body(std::string& into);

    std::size_t bytes_written() const { return written_; }
    bool response_began() const { return parser_->got_some(); }
    // Reports whether the whole response has been read and the connection may serve another request.
    bool reusable() const { return parser_->is_done() && parser_->keep_alive() && buffer_.size() == 0; }
    HttpResponse take_head();

private:
    using Parser = boost::beast::http::response_parser<boost::beast::http::buffer_body>;
    void make_parser();
    // Appends the received part of the body.
    boost::system::error_code parse_body(std::string& into);
    asio::awaitable<boost::system::error_code> receive();

    NetStream& stream_;
    std::optional<std::uint64_t> body_limit_;
    std::size_t written_ = 0;
    boost::beast::flat_buffer buffer_;
    std::unique_ptr<char[]> piece_;   // output buffer of the parser
    std::unique_ptr<Parser> parser_;  // replaced after an interim (1xx) response
};

}  // namespace base

#include "base/http_client.hpp"

#include <poll.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/error.hpp>

#include "base/condition_variable.hpp"
#include "base/connector.hpp"
#include "base/http_wire.hpp"
#include "base/net_stream.hpp"

namespace base {
namespace {

// Describes the request without its query, which is long and may contain data that must not be logged.
std::string describe(const HttpRequest& request, const Url& url) {
    return request.method + ' ' + url.scheme + "://" + url.authority() +
           request.target.substr(0, request.target.find('?'));
}

std::string describe(const boost::system::error_code& error) {
    namespace http = boost::beast::http;
    if (error == http::error::end_of_stream || error == http::error::partial_message ||
        error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
        return "the server closed the connection before the response was complete";
    }
    return error.message();
}

// Reports whether the peer has closed its side. Unread data is no sign of that, as TLS 1.3 sends session
// tickets unasked.
bool is_closed_by_peer(NetStream& stream) {
    pollfd state{stream.socket().native_handle(), POLLIN | POLLRDHUP, 0};
    return poll(&state, 1, 0) < 0 || (state.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

class ConnectionPool {
public:
    ConnectionPool(asio::any_io_executor executor, Clock& clock_to_use, HttpClientOptions options)
        : clock(clock_to_use),
          connector(executor, clock_to_use, std::move(options)),
          freed_(std::move(executor)) {}

    // Place holds one of max_connections places.
    class Place {
    public:
        explicit Place(ConnectionPool& pool) : pool_(pool) { ++pool_.in_use_; }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        ~Place() {
            --pool_.in_use_;
            pool_.freed_.notify_all();
        }

    private:
        ConnectionPool& pool_;
    };
    asio::awaitable<std::unique_ptr<Place>> enter(TimePoint deadline) {
        while (in_use_ >= connector.options().max_connections) {
            if (clock.now() >= deadline) throw std::runtime_error("all connections are busy: timed out");
            co_await freed_.wait_until(clock, deadline);
        }
        co_return std::make_unique<Place>(*this);
    }

    // Returns an idle connection, the most recently used first; null if there is none.
    std::unique_ptr<NetStream> take_idle() {
        const auto expired = clock.now() - connector.options().idle_timeout;
        std::erase_if(idle_, [expired](const Idle& entry) { return entry.since <= expired; });
        while (!idle_.empty()) {
            auto stream = std::move(idle_.back().stream);
            idle_.pop_back();
            if (!is_closed_by_peer(*stream)) return stream;
        }
        return nullptr;
    }
    void put_idle(std::unique_ptr<NetStream> stream) { idle_.push_back({std::move(stream), clock.now()}); }

    Clock& clock;
    Connector connector;

private:
    struct Idle {
        std::unique_ptr<NetStream> stream;
        TimePoint since;
    };
    ConditionVariable freed_;
    std::size_t in_use_ = 0;
    std::vector<Idle> idle_;  // oldest first
};

// StreamedCall is a call whose response head has been read. It keeps its pool alive.
class StreamedCall final : public HttpStream {
public:
    StreamedCall(std::shared_ptr<ConnectionPool> pool, HttpRequest request,
                 std::optional<std::uint64_t> body_limit)
        : pool_(std::move(pool)), request_(std::move(request)), body_limit_(body_limit) {}

    // Sends the request and reads the response's head. `deadline` limits all of this.
    asio::awaitable<void> start(TimePoint deadline) {
        const auto head_text = request_head(request_, pool_->connector.url().authority());
        stream_ = pool_->take_idle();
        const bool reused = stream_ != nullptr;
        if (!stream_) co_await connect(deadline);
        bool stale = co_await attempt(head_text, deadline, reused && request_.method == "GET");
        if (!stale) co_return;
        co_await connect(deadline);
        co_await attempt(head_text, deadline, false);
    }

    const HttpResponse& head() const override { return head_; }

    asio::awaitable<std::optional<std::string>> read() override {
        std::string piece;
        co_await read_until(pool_->clock.now() + request_.timeout, piece);
        if (piece.empty()) co_return std::nullopt;
        co_return piece;
    }

    asio::awaitable<HttpResponse> read_all(TimePoint deadline) {
        HttpResponse response = std::move(head_);
        const bool is_passed_on = request_.on_body && response.status >= 200 && response.status < 300;
        for (bool more = true; more;) {
            const auto size_before = response.body.size();
            co_await read_until(deadline, response.body);
            more = response.body.size() > size_before;
            if (!is_passed_on || !more) continue;
            request_.on_body(response.body);
            response.body.clear();
        }
        co_return response;
    }

private:
    asio::awaitable<void> connect(TimePoint deadline) {
        const auto limit =
            std::min(deadline, pool_->clock.now() + pool_->connector.options().connect_timeout);
        std::string failure;
        try {
            stream_ = co_await pool_->connector.connect(limit);
            // If this process was stopped meanwhile, the connection may be reported before the timeout. It is
            // not used then, as its reason may no longer hold.
            if (pool_->clock.now() <= limit) co_return;
            failure = "connecting: timed out";
        } catch (const boost::system::system_error&) {
            throw;  // cancelled
        } catch (const std::runtime_error& error) {
            failure = error.what();
        }
        throw TransportError(subject() + ": " + failure, false);
    }

    // Returns true if the connection had been closed while idle and `may_be_stale` allows another one.
    asio::awaitable<bool> attempt(std::string head_text, TimePoint deadline, bool may_be_stale) {
        exchange_ = std::make_unique<Exchange>(*stream_, body_limit_);
        Deadline limit(pool_->clock, deadline, *stream_);
        if (request_.before_writing) request_.before_writing();
        auto write_error = co_await exchange_->write(std::move(head_text), request_);
        if (write_error) co_await rethrow_cancellation();
        auto error = co_await exchange_->read_head(request_);
        if (!error) {
            head_ = exchange_->take_head();
            may_be_reused_ = !write_error;
            co_return false;
        }
        co_await rethrow_cancellation();
        if (may_be_stale && !limit.expired() && !exchange_->response_began()) co_return true;
        fail(limit, write_error ? write_error : error);
    }

    asio::awaitable<void> read_until(TimePoint deadline, std::string& into) {
        if (!stream_) co_return;
        Deadline limit(pool_->clock, deadline, *stream_);
        const auto size_before = into.size();
        auto error = co_await exchange_->read_body(into);
        if (error) co_await rethrow_cancellation();
        if (error) fail(limit, error);
        if (into.size() > size_before) co_return;
        if (may_be_reused_ && exchange_->reusable()) pool_->put_idle(std::move(stream_));
        stream_.reset();
    }

    [[noreturn]] void fail(const Deadline& limit, const boost::system::error_code& error) const {
        const bool was_sent = exchange_->bytes_written() > 0;
        if (error == boost::beast::http::error::body_limit && body_limit_)
            throw ResponseTooLong(subject() + ": the response is longer than the " +
                                      std::to_string(*body_limit_) + " bytes allowed",
                                  was_sent);
        throw TransportError(subject() + ": " + (limit.expired() ? "timed out" : describe(error)), was_sent);
    }
    std::string subject() const { return describe(request_, pool_->connector.url()); }

    std::shared_ptr<ConnectionPool> pool_;
    HttpRequest request_;
    std::optional<std::uint64_t> body_limit_;
    HttpResponse head_;
    std::unique_ptr<NetStream> stream_;  // null after the end of the response
    std::unique_ptr<Exchange> exchange_;
    bool may_be_reused_ = false;
};

class HttpClient final : public HttpTransport {
public:
    HttpClient(asio::any_io_executor executor, Clock& clock, HttpClientOptions options)
        : pool_(std::make_shared<ConnectionPool>(std::move(executor), clock, std::move(options))) {}

    asio::awaitable<HttpResponse> send(HttpRequest request) override {
        const auto deadline = pool_->clock.now() + request.timeout;
        auto place = co_await enter(request, deadline);
        StreamedCall call(pool_, std::move(request), pool_->connector.options().max_response_bytes);
        co_await call.start(deadline);
        co_return co_await call.read_all(deadline);
    }

    asio::awaitable<std::unique_ptr<HttpStream>> open(HttpRequest request) override {
        const auto deadline = pool_->clock.now() + request.timeout;
        auto call = std::make_unique<StreamedCall>(pool_, std::move(request), std::nullopt);
        co_await call->start(deadline);
        co_return call;
    }

private:
    asio::awaitable<std::unique_ptr<ConnectionPool::Place>> enter(const HttpRequest& request,
                                                                  TimePoint deadline) {
        std::string failure;
        try {
            co_return co_await pool_->enter(deadline);
        } catch (const boost::system::system_error&) {
            throw;  // cancelled
        } catch (const std::runtime_error& error) {
            failure = error.what();
        }
        throw TransportError(describe(request, pool_->connector.url()) + ": " + failure, false);
    }

    std::shared_ptr<ConnectionPool> pool_;
};

}  // namespace

std::unique_ptr<HttpTransport> make_http_client(asio::any_io_executor executor, Clock& clock,
                                                HttpClientOptions options) {
    return std::make_unique<HttpClient>(std::move(executor), clock, std::move(options));
}

}  // namespace base

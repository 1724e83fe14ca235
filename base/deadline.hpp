// Time limits for I/O on one connection, and the difference between cancelled and failed. Not a public
// interface of base/: used by its HTTP client and server.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "base/net_stream.hpp"

namespace base {

// Closes the stream when time is up, which ends the operation in progress.
class Deadline {
public:
    Deadline(Clock& clock, TimePoint at, NetStream& stream)
        : alarm_(clock.call_at(at, [this, &stream] {
              expired_ = true;
              stream.close();
          })) {}
    bool expired() const { return expired_; }

private:
    bool expired_ = false;
    std::unique_ptr<Alarm> alarm_;
};

// Throws system_error(operation_aborted) if the calling coroutine has been cancelled: an operation that
// ended with an error did so for that reason, which is no failure of the network.
asio::awaitable<void> rethrow_cancellation();

}  // namespace base

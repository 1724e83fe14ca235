// A backend that is logged in at servers which have few sessions to give: they are ended before the process
// is.
#pragma once

#include <boost/asio/awaitable.hpp>

namespace providers {

class SessionHolder {
public:
    SessionHolder() = default;
    SessionHolder(const SessionHolder&) = delete;
    SessionHolder& operator=(const SessionHolder&) = delete;
    virtual ~SessionHolder() = default;
    // For the end, when nothing else calls the backend any more. Cancelling half-way leaves sessions that end
    // by themselves after a while.
    virtual boost::asio::awaitable<void> end_sessions() = 0;
};

}  // namespace providers

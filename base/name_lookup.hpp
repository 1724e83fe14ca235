// Looks up the addresses of hosts. getaddrinfo blocks its thread and cannot be cancelled, and Asio has one
// thread for all names. A few names whose servers are silent would keep all other hosts out of reach.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/system/error_code.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace base {

// Returns the addresses of the host; empty: the name does not exist. Throws std::runtime_error if the lookup
// fails or has not ended at the deadline, and system_error(operation_aborted) if cancelled.
asio::awaitable<std::vector<asio::ip::address>> look_up(asio::any_io_executor executor, Clock& clock,
                                                        std::string host, TimePoint deadline);

// NameLookups runs the lookups of one executor, which must have one thread. All who wait for a name share its
// lookup. Names that were slow before get half of the places only, so new names seldom wait.
class NameLookups {
public:
    struct Answer {
        boost::system::error_code error;
        std::vector<asio::ip::address> addresses;
    };
    using Resolve = std::function<Answer(const std::string& host)>;  // runs on threads; blocks

    NameLookups(asio::any_io_executor executor, Resolve resolve, std::size_t most_at_once = 64);
    NameLookups(const NameLookups&) = delete;
    NameLookups& operator=(const NameLookups&) = delete;
    // Lookups that still run end by themselves, and their answers are dropped.
    ~NameLookups();

    asio::awaitable<Answer> find(Clock& clock, std::string host, TimePoint deadline);

private:
    struct Lookup;
    struct Desk;

    void begin_waiting();
    bool may_begin(const std::string& host) const;
    void begin(Lookup& lookup);
    void end(const std::string& host, Answer answer);

    asio::any_io_executor executor_;
    Resolve resolve_;
    std::size_t most_at_once_;
    std::shared_ptr<Desk> desk_;  // takes the answers of threads while this object exists
    std::map<std::string, std::shared_ptr<Lookup>> lookups_;  // waiting or running, by host
    std::deque<std::shared_ptr<Lookup>> waiting_;
    std::size_t running_ = 0, running_slow_ = 0;
    std::map<std::string, std::chrono::steady_clock::time_point> slow_;  // when a name was slow
};

}  // namespace base

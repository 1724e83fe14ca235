// HttpRates counts the requests of each client of a server per minute. It is no public interface of base/:
// the HTTP server uses it.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/time.hpp"

namespace base {

class HttpRates {
public:
    // Further clients share one count.
    static constexpr std::size_t kMostClients = 4096;

    // `most` 0: no limit.
    explicit HttpRates(std::size_t most) : most_(most) {}

    // Counts a request. Returns false if the client has reached its limit.
    bool admit(const std::string& client, TimePoint now);

private:
    std::size_t most_;
    TimePoint minute_{};  // start of the current one
    std::map<std::string, std::size_t> requests_;
};

}  // namespace base

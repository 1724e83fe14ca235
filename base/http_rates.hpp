// How many requests each client of a server sends in a minute. Not a public interface of base/: used by its
// HTTP server.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/time.hpp"

namespace base {

class HttpRates {
public:
    // More clients than these are not told apart, and share one count.
    static constexpr std::size_t kMostClients = 4096;

    // `most` 0: any number.
    explicit HttpRates(std::size_t most) : most_(most) {}

    // Counts a request; false: this client has sent as many as it may.
    bool admit(const std::string& client, TimePoint now);

private:
    std::size_t most_;
    TimePoint minute_{};  // when the present one began
    std::map<std::string, std::size_t> requests_;
};

}  // namespace base

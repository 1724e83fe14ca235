// Random is the only source of randomness: the system in production, a seed in tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/interface.hpp"

namespace base {

class Random : public Interface {
public:
    virtual std::uint64_t next() = 0;
    // Returns a uniform value in [0, bound); bound > 0.
    std::uint64_t below(std::uint64_t bound);
    // Returns a uniform value in [0, 1).
    double unit();
    // Returns `length` characters, each drawn from `alphabet`.
    std::string text(std::size_t length, const std::string& alphabet);
};

// Returns a cryptographically strong source (OpenSSL), fit for tokens.
std::unique_ptr<Random> make_system_random();

}  // namespace base

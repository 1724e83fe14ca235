// The one source of randomness: from the system in production, seeded in tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/interface.hpp"

namespace base {

class Random : public Interface {
public:
    virtual std::uint64_t next() = 0;
    // Uniform in [0, bound); bound > 0.
    std::uint64_t below(std::uint64_t bound);
    // Uniform in [0, 1).
    double unit();
    // `length` characters, each drawn from `alphabet`.
    std::string text(std::size_t length, const std::string& alphabet);
};

// Cryptographically strong (OpenSSL): fit for tokens.
std::unique_ptr<Random> make_system_random();

}  // namespace base

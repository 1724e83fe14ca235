// The one source of randomness: seeded in tests, from the system in production.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace base {

class Random {
public:
    Random() = default;
    Random(const Random&) = delete;
    Random& operator=(const Random&) = delete;
    virtual ~Random() = default;

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
// Repeatable; never for secrets outside tests.
std::unique_ptr<Random> make_seeded_random(std::uint64_t seed);

}  // namespace base

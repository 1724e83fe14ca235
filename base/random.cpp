#include "base/random.hpp"

#include <openssl/rand.h>

#include <stdexcept>

namespace base {
namespace {

class SystemRandom final : public Random {
public:
    std::uint64_t next() override {
        std::uint64_t value = 0;
        if (RAND_bytes(reinterpret_cast<unsigned char*>(&value), sizeof value) != 1) {
            throw std::runtime_error("the system's random number generator failed");
        }
        return value;
    }
};

}  // namespace

std::uint64_t Random::below(std::uint64_t bound) {
    if (bound == 0) throw std::logic_error("Random::below: bound must be positive");
    // The lowest 2^64 mod bound values are rejected. The rest is a multiple of bound, so all results are
    // equally likely.
    const std::uint64_t rejected = (0 - bound) % bound;
    for (;;) {
        auto value = next();
        if (value >= rejected) return value % bound;
    }
}

double Random::unit() {
    return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

std::string Random::text(std::size_t length, const std::string& alphabet) {
    std::string result;
    result.reserve(length);
    while (result.size() < length) result += alphabet[below(alphabet.size())];
    return result;
}

std::unique_ptr<Random> make_system_random() {
    return std::make_unique<SystemRandom>();
}

}  // namespace base

// Random numbers that repeat for the same seed. They must never be used for secrets.
#pragma once

#include <memory>
#include <random>

#include "base/random.hpp"

namespace fake {

class SeededRandom final : public base::Random {
public:
    explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}
    std::uint64_t next() override { return engine_(); }

private:
    std::mt19937_64 engine_;
};

inline std::unique_ptr<base::Random> make_seeded_random(std::uint64_t seed) {
    return std::make_unique<SeededRandom>(seed);
}

}  // namespace fake

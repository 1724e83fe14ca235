// Dice has short forms for drawing a scenario.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace simulation {

class Dice {
public:
    explicit Dice(base::Random& random) : random_(random) {}
    bool chance(double probability) { return random_.unit() < probability; }
    std::int64_t between(std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most - least + 1)));
    }
    std::chrono::seconds seconds(std::int64_t least, std::int64_t most) {
        return std::chrono::seconds{between(least, most)};
    }
    template <class T>
    const T& one_of(const std::vector<T>& values) {
        return values[random_.below(values.size())];
    }

private:
    base::Random& random_;
};

}  // namespace simulation

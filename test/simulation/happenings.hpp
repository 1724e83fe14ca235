// Counts named events of a world, for the table of what the seeds have reached.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace simulation {

class Happenings {
public:
    void count(const std::string& what, std::uint64_t times = 1) { counts_[what] += times; }
    void add(const Happenings& other) {
        for (const auto& [what, times] : other.counts_) counts_[what] += times;
    }
    const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

private:
    std::map<std::string, std::uint64_t> counts_;
};

}  // namespace simulation

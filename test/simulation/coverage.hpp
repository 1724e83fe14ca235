// Which transitions of claims were seen, and under which troubles: a table of what the seeds have reached.
#pragma once

#include <array>
#include <map>
#include <string>

#include "test/simulation/world.hpp"

namespace simulation {

class Coverage {
public:
    // Watches the claims of one world; the world must not outlive it.
    void watch(World& world);
    void add(const Coverage& other);
    // Rows: transitions; columns: kinds of trouble that struck within the minute before.
    std::string table() const;

private:
    struct Row {
        std::uint64_t seen = 0;
        std::array<std::uint64_t, kFaults> with{};
    };
    std::map<std::string, Row> rows_;  // "Pending -> Launching"
};

}  // namespace simulation

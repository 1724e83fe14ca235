// Counts which transitions of claims were seen under which troubles, which conditions and Events the operator
// wrote, and what outsiders did: a table of what the seeds have reached.
#pragma once

#include <array>
#include <map>
#include <string>

#include "test/simulation/world.hpp"

namespace simulation {

class Coverage {
public:
    // Watches the objects of one world; the world must not outlive it.
    void watch(World& world);
    void add(const Coverage& other);
    // Rows: transitions; columns: kinds of trouble that struck within the minute before.
    std::string table() const;
    // How often each reason was written into a condition or an Event: how often each guard of the operator
    // acted.
    std::string reasons() const;

private:
    struct Row {
        std::uint64_t seen = 0;
        std::array<std::uint64_t, kFaults> with{};
    };
    template <class T>
    void watch_conditions(World& world);

    std::map<std::string, Row> rows_;  // "Pending -> Launching"
    Happenings reasons_;               // "NodeSmithPool Available=False LimitReached"
};

}  // namespace simulation

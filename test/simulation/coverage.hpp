// Coverage shows in tables what the seeds have reached. It counts which transitions of claims occurred under
// which troubles, which conditions and Events the operator wrote, and what outsiders did.
#pragma once

#include <array>
#include <map>
#include <string>

#include "test/simulation/world.hpp"

namespace simulation {

class Coverage {
public:
    // Watches the objects of one world, which must not outlive the coverage.
    void watch(World& world);
    void add(const Coverage& other);
    // Returns a table with a row for each transition and a column for each kind of trouble in the minute
    // before it.
    std::string table() const;
    // Returns how often each reason was written into a condition or an Event. These numbers show how often
    // each guard of the operator acted.
    std::string reasons() const;

private:
    struct Row {
        std::uint64_t seen = 0;
        std::array<std::uint64_t, kFaults> with{};
    };
    template <class T>
    void watch_conditions(World& world);

    std::map<std::string, Row> rows_;  // by transition, such as "Pending -> Launching"
    Happenings reasons_;               // keys such as "NodeSmithPool Available=False LimitReached"
};

}  // namespace simulation

// One seed from start to end: a while with trouble, then peace, in which all must come to rest within two
// hours and stay so for one.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "test/simulation/coverage.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {

struct RunOptions {
    std::uint64_t seed = 1;
    base::Duration trouble = std::chrono::hours{1};
    Recording recording = Recording::off;
    Variety variety = Variety::plain;
    std::function<void(Scenario&)> adapt;  // what was drawn; null: it stays
    std::function<void(World&)> watch;     // called before it begins; may be null
    double racks = kRacks;                 // share of seeds with bare metal
    bool soaks = false;                    // see soak.hpp; nothing is drawn then
};

struct Outcome {
    std::vector<Violation> violations;  // empty: all held
    std::vector<std::string> trace;     // if it was recorded
    FaultPlan::Counts faults{};
    base::Duration simulated{};
    Coverage coverage;
    Happenings happenings;
    bool has_two_clusters = false;
    SharedRackCounts shared_rack;
    std::set<fake::Right> needed_rights;  // of the operator's requests
};

Outcome run_seed(const RunOptions& options);

}  // namespace simulation

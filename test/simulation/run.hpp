// Runs one seed from start to end: a while with trouble, then peace. In peace the world must come to rest
// within two hours and stay so for one.
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
    std::function<void(Scenario&)> adapt;  // changes what was drawn; null: no change
    std::function<void(World&)> watch;     // called before the run begins; may be null
    double racks = kRacks;                 // share of seeds with bare metal
    bool soaks = false;                    // runs soak.hpp instead of a drawn scenario
};

struct Outcome {
    std::vector<Violation> violations;  // empty: every invariant held
    std::vector<std::string> trace;     // lines of the trace, if it was recorded
    FaultPlan::Counts faults{};
    base::Duration simulated{};
    Coverage coverage;
    Happenings happenings;
    bool has_two_clusters = false;
    SharedRackCounts shared_rack;
    std::set<fake::Right> needed_rights;  // rights that the operator's requests needed
};

Outcome run_seed(const RunOptions& options);

}  // namespace simulation

// Runs a story without and with the kill, and checks that both decide the same.
#pragma once

#include "test/simulation/leader_tale.hpp"
#include "test/support/catch.hpp"

namespace simulation {

// Checks the story. It must make at least `least` decisions, or it proves nothing.
inline void check_change_of_leader(const Story& story, std::size_t least = 2) {
    std::vector<LeaderDecision> undisturbed;
    {
        Tale tale(story);
        tale.run(Tale::Kill::never);
        undisturbed = tale.decisions();
    }
    Tale tale(story);
    tale.run(Tale::Kill::when_held);
    INFO("held: " << story.name << text_of(undisturbed) << "\nwith the kill:" << text_of(tale.decisions()));
    CHECK(tale.was_killed());
    CHECK(undisturbed.size() >= least);
    CHECK(holds(story.rate, undisturbed));
    CHECK(holds(story.rate, tale.decisions()));
    CHECK(difference(undisturbed, tale.decisions(), story).empty());
}

}  // namespace simulation

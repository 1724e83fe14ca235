#include "controllers/state/operator_epoch.hpp"

#include "controllers/epoch_reconciler.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/provider_world.hpp"

using namespace controllers;
using namespace std::chrono_literals;
using providers::EpochRecord;

namespace {

// Place is the record at the provider, which the operators of one or several control planes share.
struct Place {
    bool has_machine = true;
    std::optional<EpochRecord> record;
    bool is_locked = false;
    bool is_read_only = false;
    std::size_t room = std::string::npos;  // for the beginning of each epoch
};

// Leader looks at the place like the operator's process.
struct Leader {
    kube::LeaderEpochs epochs;
    EpochState state = {};
    bool leads_from_nothing = false;
    std::string ended = "";

    void look(Place& place, base::TimePoint now) {
        EpochSight sight;
        if (place.has_machine && !place.is_locked) {
            auto& slot = sight.look.slot.emplace();
            slot.record = place.record;
            slot.takes_none = place.is_read_only;
        }
        sight.look.is_empty = !place.has_machine;
        if (place.is_locked) sight.look.unread = "VM 100 on pve1 is locked (backup); qm unlock 100";
        sight.leader = epochs;
        sight.leads_from_nothing = leads_from_nothing;
        sight.is_of_our_claim = true;
        sight.ended = ended;
        sight.now = now;
        auto decision = next_epoch(state, sight);
        state = decision.state;
        if (decision.write && place.is_read_only) FAIL("the place takes no record");
        if (decision.write)
            place.record = EpochRecord{decision.write->epoch.substr(0, place.room),
                                       decision.write->rival.substr(0, place.room)};
    }
    bool may_destroy() const { return why_not_destroy(state, epochs.own).why.empty(); }
};

constexpr base::TimePoint kStart{1h};

Leader leader_of(std::vector<std::string> chain) {
    return Leader{{chain.back(), chain}};
}

// Lets the leader look once a minute for a while.
void settle(Leader& leader, Place& place, base::TimePoint from = kStart) {
    for (const auto after : {0min, 1min, 2min}) leader.look(place, from + after);
}

}  // namespace

TEST_CASE("a leader writes its epoch and destroys nothing for two looks") {
    Place place;
    auto leader = leader_of({"a"});
    CHECK_FALSE(leader.may_destroy());
    leader.look(place, kStart);
    CHECK(place.record == EpochRecord{"a", ""});
    CHECK_FALSE(leader.may_destroy());
    leader.look(place, kStart + 1min);
    CHECK_FALSE(leader.may_destroy());
    leader.look(place, kStart + 2min);
    CHECK(leader.may_destroy());
}

TEST_CASE(
    "a leader that can read no machine, because a backup locks it, destroys nothing until it has read it") {
    Place place{true, EpochRecord{"other", ""}, true};
    auto leader = leader_of({"a"});
    settle(leader, place);
    leader.look(place, kStart + 10min);
    CHECK_FALSE(leader.may_destroy());
    CHECK_THAT(why_not_destroy(leader.state, "a").why,
               Catch::Contains("VM 100 on pve1 is locked") && Catch::Contains("qm unlock 100"));
    place.is_locked = false;
    leader.look(place, kStart + 11min);
    CHECK_FALSE(leader.may_destroy());
    CHECK(leader.state.other == "other");
}

TEST_CASE("a leader continues after one whose epoch is in its Lease") {
    Place place{true, EpochRecord{"a", ""}};
    auto leader = leader_of({"a", "b"});
    settle(leader, place);
    CHECK(place.record == EpochRecord{"b", ""});
    CHECK(leader.may_destroy());
}

TEST_CASE("an operator that leads from nothing waits for nobody") {
    Place place{false, {}};
    auto leader = leader_of({"a"});
    leader.leads_from_nothing = true;
    leader.look(place, kStart);
    CHECK(leader.may_destroy());
    place.has_machine = true;
    leader.look(place, kStart + 1min);
    CHECK(leader.may_destroy());
    CHECK(place.record == EpochRecord{"a", ""});
}

TEST_CASE("a leader with claims waits for the first machine's record, and may remove halves without one") {
    Place place{false, {}};
    auto leader = leader_of({"a"});
    leader.look(place, kStart);
    CHECK_FALSE(leader.may_destroy());
    leader.look(place, kStart + 2min);
    CHECK(leader.may_destroy());
    place.has_machine = true;
    leader.look(place, kStart + 3min);
    CHECK_FALSE(leader.may_destroy());
    leader.look(place, kStart + 5min);
    CHECK(leader.may_destroy());
}

TEST_CASE("a settled leader writes its epoch anew when another machine carries the record") {
    Place place;
    auto leader = leader_of({"a", "b"});
    settle(leader, place);
    for (const auto& record : {std::optional<EpochRecord>(), std::optional(EpochRecord{"a", ""})}) {
        place.record = record;
        leader.look(place, kStart + 10min);
        CHECK(leader.may_destroy());
        CHECK(place.record == EpochRecord{"b", ""});
    }
}

TEST_CASE("original and copy notice each other, and neither destroys anything") {
    Place place;
    auto original = leader_of({"a"});
    settle(original, place);
    auto copy = leader_of({"a", "c"});
    copy.look(place, kStart + 10min);
    CHECK(place.record == EpochRecord{"c", ""});
    original.look(place, kStart + 10min + 30s);
    CHECK(original.state.other == "c");
    CHECK(place.record == EpochRecord{"a", "c"});
    for (auto minute = 11min; minute < 20min; ++minute) {
        copy.look(place, kStart + minute);
        original.look(place, kStart + minute + 30s);
        CHECK_FALSE(copy.may_destroy());
        CHECK_FALSE(original.may_destroy());
    }
    CHECK(copy.state.other == "a");
    CHECK(place.record == EpochRecord{"a", "c"});
    CHECK(why_not_destroy(original.state, "a").needs_person);
    CHECK_THAT(why_not_destroy(original.state, "a").why,
               Catch::Contains("epoch c ") && Catch::Contains("epoch a"));
}

TEST_CASE("later leaders of both find the record of both") {
    Place place{true, EpochRecord{"a", "c"}};
    auto original = leader_of({"a", "b"});
    auto copy = leader_of({"a", "c", "d"});
    settle(original, place);
    settle(copy, place);
    CHECK(original.state.other == "c");
    CHECK(copy.state.other == "a");
    CHECK_FALSE(original.may_destroy());
    CHECK_FALSE(copy.may_destroy());
    CHECK(place.record == EpochRecord{"a", "c"});
}

TEST_CASE("the record of both is written again when another machine carries it") {
    Place place{true, EpochRecord{"a", "c"}};
    auto original = leader_of({"a", "b"});
    settle(original, place);
    place.record.reset();
    original.look(place, kStart + 5min);
    CHECK(place.record == EpochRecord{"b", "c"});
    CHECK_FALSE(original.may_destroy());
}

TEST_CASE("a person ends one operator, and the other one waits once more") {
    Place place{true, EpochRecord{"a", "c"}};
    auto original = leader_of({"a", "b"});
    settle(original, place);
    original.ended = "x";
    original.look(place, kStart + 5min);
    CHECK(original.state.other == "c");
    original.ended = "c";
    original.look(place, kStart + 6min);
    CHECK(original.state.other.empty());
    CHECK(place.record == EpochRecord{"b", ""});
    CHECK_FALSE(original.may_destroy());
    original.ended = "";
    original.look(place, kStart + 7min);
    original.look(place, kStart + 8min);
    CHECK(original.may_destroy());
}

TEST_CASE("the word of a person about an operator that still runs holds for no machine") {
    Place place{true, EpochRecord{"a", "c"}};
    auto original = leader_of({"a", "b"});
    auto copy = leader_of({"a", "c"});
    settle(original, place);
    settle(copy, place);
    original.ended = "c";
    original.look(place, kStart + 6min);
    original.ended = "";
    copy.look(place, kStart + 6min + 30s);
    original.look(place, kStart + 7min);
    CHECK(original.state.other == "c");
    CHECK_FALSE(original.may_destroy());
}

TEST_CASE("a leader that led from nothing waits when somebody else's machine appears") {
    Place place{false, {}};
    auto leader = leader_of({"a", "b"});
    leader.leads_from_nothing = true;
    leader.look(place, kStart);
    place = {true, EpochRecord{"a", ""}};
    leader.look(place, kStart + 1min);
    CHECK_FALSE(leader.may_destroy());
}

TEST_CASE("a place that keeps only the beginning of an epoch serves as well") {
    Place place{.room = 6};
    auto original = leader_of({"aaaaaa11", "bbbbbb22"});
    settle(original, place);
    CHECK(place.record == EpochRecord{"bbbbbb", ""});
    CHECK(original.may_destroy());
    auto copy = leader_of({"aaaaaa11", "bbbbbb22", "cccccc33"});
    copy.look(place, kStart + 10min);
    original.look(place, kStart + 10min + 30s);
    copy.look(place, kStart + 11min);
    CHECK(place.record == EpochRecord{"bbbbbb", "cccccc"});
    CHECK(original.state.other == "cccccc");
    CHECK(copy.state.other == "bbbbbb");
    // A person copies the epoch from the condition, or from the other Lease.
    original.ended = GENERATE("cccccc", "cccccc33");
    original.look(place, kStart + 12min);
    CHECK(original.state.other.empty());
    CHECK(place.record == EpochRecord{"bbbbbb", ""});
}

TEST_CASE("a record that is too short to tell operators apart is of another one") {
    Place place{true, EpochRecord{"b", ""}};
    auto leader = leader_of({"aaaaaa11", "bbbbbb22"});
    settle(leader, place);
    CHECK(leader.state.other == "b");
}

TEST_CASE("the record of a suspended machine is read, and no removal waits until it can be replaced") {
    Place place{true, EpochRecord{"a", ""}};
    place.is_read_only = true;
    auto successor = leader_of({"a", "b"});
    settle(successor, place);
    CHECK(successor.may_destroy());
    auto stranger = leader_of({"c"});
    settle(stranger, place);
    CHECK(stranger.state.other == "a");
    CHECK_FALSE(stranger.may_destroy());
}

TEST_CASE("without a place for an epoch an earlier finding about another operator no longer counts") {
    provider_tests::World world;
    auto& look = world.script.epoch.emplace();
    look.slot.emplace().record = EpochRecord{"other1", ""};
    EpochReconciler epochs{{world.informers, world.client, world.clock, world.events, world.metrics},
                           world.instances,
                           [] { return kube::LeaderEpochs{"a", {"a"}}; }};
    world.add("epoch", epochs);
    world.start();
    world.run_for(3min);
    const auto uid = world.provider().metadata.uid;
    const auto condition = [&] { return world.condition(std::string(api::conditions::kOtherOperatorFound)); };
    REQUIRE(condition().starts_with("True"));
    REQUIRE(epochs.why_not_destroy(uid).needs_person);
    world.script.epoch.reset();
    world.edit(
        [](NodeSmithProvider& provider) { provider.spec.proxmox->placement.hostReserved.memoryMiB += 1; });
    world.run_for(1min);
    CHECK_FALSE(condition().starts_with("True"));
    CHECK_FALSE(epochs.why_not_destroy(uid).needs_person);
    world.stop();
}

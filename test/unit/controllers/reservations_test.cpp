// Limits hold by compare-and-swap, also with two operators.
#include "controllers/services/reservations.hpp"

#include "controllers/provisioning/facts/claim_factory.hpp"
#include "test/support/catch.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/unit/controllers/cluster.hpp"

using namespace std::chrono_literals;
using api::v1alpha1::Size;
using controllers::Reservation;
using controllers::Reservations;
using objects::NodeSmithPool;

namespace {

struct World : test::Cluster {
    kube::ObjectKey key{"default", "small"};

    World() {
        put_basics();
        auto pool = objects::pool("small");
        pool.spec.limits.maxNodes = 3;
        server.put(pool);
        start();
    }
    Reservation reserve(std::size_t machines) {
        return test::run(context, clock, reservations.reserve(key, std::vector<Size>(machines, {2, 4096})));
    }
    void settle() {
        wait = test::run(context, clock, reservations.settle_pool(key));
        run_for(100ms);
    }
    void create(const Reservation& reservation) {
        for (std::size_t i = 0; i < reservation.granted.size(); ++i)
            if (reservation.granted[i]) {
                const auto sequence = reservation.first_sequence + static_cast<std::int64_t>(i);
                server.put(objects::created_claim("c" + std::to_string(sequence), pool(), sequence));
            }
        run_for(100ms);
    }
    std::optional<base::Duration> wait;
};

}  // namespace

TEST_CASE("a reservation is in the status before it is handed out, with its sequence and time") {
    World world;
    auto reservation = world.reserve(2);
    CHECK(reservation.granted == std::vector<bool>{true, true});
    CHECK(reservation.first_sequence == 1);
    const auto status = world.pool().status;
    CHECK(status.reserved.nodes == 2);
    CHECK(status.reserved.cpuCores == 4);
    CHECK(status.reserved.time);
    CHECK(status.nextClaimSequence == 3);
    CHECK(reservation.usable_until <= world.clock.now() + 15s);

    auto second = world.reserve(2);
    CHECK(second.granted == std::vector<bool>{true, false});
    CHECK(second.first_sequence == 3);
    REQUIRE(second.limit_hit);
    CHECK(world.pool().status.reserved.nodes == 3);
    CHECK(world.reserve(1).granted == std::vector<bool>{false});
}

TEST_CASE("two operators that both believe they lead can't exceed a limit") {
    World world;
    kube::Client other_client(world.server.connect(), world.clock, world.metrics);
    controllers::Informers other_informers(other_client, world.clock, *world.random,
                                           world.context.get_executor());
    base::TaskGroup group(world.context.get_executor());
    other_informers.spawn_all(group);
    world.run_for(100ms);
    Reservations other(other_informers, other_client, world.clock);

    world.server.options().watch_delay = 1s;
    const auto their_try = [&] {
        return test::run(world.context, world.clock,
                         other.reserve(world.key, std::vector<Size>(2, {2, 4096})));
    };
    auto mine = world.reserve(2);
    // The other operator's cache has not seen the reservation, so its write is refused. At its second try
    // only one place is left.
    CHECK_THROWS_AS(their_try(), kube::ApiError);
    world.run_for(1s);
    world.run_for(2s);
    auto theirs = their_try();
    CHECK(theirs.granted == std::vector<bool>{true, false});
    CHECK(world.pool().status.reserved.nodes == 3);

    // Neither operator may give back places that the other has reserved but not used yet.
    mine.complete();
    world.run_for(2s);
    world.settle();
    REQUIRE(world.wait);
    CHECK(world.pool().status.reserved.nodes == 3);
    group.stop();
    world.run_for(1s);
}

TEST_CASE("a completed reservation follows what exists at once, an interrupted one after a minute") {
    World world;
    auto reservation = world.reserve(2);
    SECTION("completed") {
        world.create(reservation);
        reservation.complete();
        world.settle();
        CHECK(world.pool().status.reserved.nodes == 2);
        world.server.remove<objects::NodeSmithClaim>({"default", "c1"});
        world.run_for(100ms);
        world.settle();
        CHECK(world.pool().status.reserved.nodes == 1);
    }
    SECTION("still in use") {
        world.settle();
        CHECK(world.wait == base::Duration(1s));
        CHECK(world.pool().status.reserved.nodes == 2);
    }
    SECTION("interrupted") {
        reservation = Reservation();
        world.settle();
        REQUIRE(world.wait);
        CHECK(*world.wait > 50s);
        CHECK(world.pool().status.reserved.nodes == 2);
        world.run_for(*world.wait);
        world.settle();
        CHECK(world.pool().status.reserved.nodes == 0);
    }
}

TEST_CASE("claims that are known but not in the books count, too") {
    World world;
    for (int i = 1; i <= 3; ++i)
        world.server.put(objects::created_claim("c" + std::to_string(i), world.pool(), i));
    world.run_for(100ms);
    CHECK(world.reserve(1).granted == std::vector<bool>{false});
}

TEST_CASE("nothing is reserved for a pool that is being deleted") {
    World world;
    world.server.edit<NodeSmithPool>(world.key, [](auto& pool) { pool.metadata.finalizers = {"test/keep"}; });
    world.server.remove<NodeSmithPool>(world.key);
    world.run_for(100ms);
    CHECK(world.reserve(1).granted.empty());
}

TEST_CASE("until when machines may be on their way unseen") {
    World world;
    CHECK_FALSE(world.reservations.unknown_until(world.pool()));
    auto reservation = world.reserve(1);
    CHECK_FALSE(world.reservations.unknown_until(world.pool()));  // the operator knows its own reservation
    Reservations after_restart(world.informers, world.client, world.clock);
    CHECK_FALSE(after_restart.unknown_until(world.pool()));  // it launches again under the same names
    reservation = Reservation();
    CHECK(world.reservations.unknown_until(world.pool()));  // given up half-way: a request may be under way
    world.run_for(61s);
    CHECK_FALSE(world.reservations.unknown_until(world.pool()));
}

TEST_CASE(
    "what a process reserved before it died is reserved again under the same names, and counts twice until "
    "it settles") {
    World world;
    world.server.edit<NodeSmithPool>(world.key, [](auto& pool) { pool.spec.limits.maxNodes = 6; });
    world.run_for(100ms);
    auto lost = world.reserve(3);
    world.server.put(objects::created_claim("c1", world.pool(), 1));
    world.run_for(100ms);
    Reservations successor(world.informers, world.client, world.clock);
    const auto reserve = [&](std::size_t machines) {
        return test::run(world.context, world.clock,
                         successor.reserve(world.key, std::vector<Size>(machines, {2, 4096})));
    };
    auto again = reserve(2);
    CHECK(again.first_sequence == 2);
    CHECK(world.pool().status.nextClaimSequence == 4);
    CHECK(world.pool().status.reserved.nodes == 5);
    // The limit also holds if all lost requests are executed late.
    auto more = reserve(2);
    CHECK(more.granted == std::vector<bool>{true, false});
    CHECK(more.first_sequence == 4);
    for (int sequence = 2; sequence <= 3; ++sequence)
        world.server.put(objects::created_claim("c" + std::to_string(sequence), world.pool(), sequence));
    again.complete();
    more.complete();
    world.run_for(61s);
    test::run(world.context, world.clock, successor.settle_pool(world.key));
    CHECK(world.pool().status.reserved.nodes == 3);
    auto next = reserve(1);
    CHECK(next.first_sequence == world.pool().status.nextClaimSequence - 1);
    CHECK(next.first_sequence >= 4);
}

TEST_CASE("a launch after another process' death does not delay when its reservation settles") {
    World world;
    auto lost = world.reserve(1);
    world.run_for(30s);
    Reservations successor(world.informers, world.client, world.clock);
    auto mine =
        test::run(world.context, world.clock, successor.reserve(world.key, std::vector<Size>(1, {2, 4096})));
    world.create(mine);
    mine.complete();
    world.run_for(35s);
    CHECK_FALSE(test::run(world.context, world.clock, successor.settle_pool(world.key)));
    CHECK(world.pool().status.reserved.nodes == 1);
}

TEST_CASE(
    "a launch after a user took a claim's finalizers has another name while the old machine is a Node") {
    World world;
    auto lost = world.reserve(1);
    lost.complete();
    world.server.put(objects::node(controllers::provisioning::claim_name(world.pool(), lost.first_sequence)));
    world.run_for(100ms);
    CHECK(world.reserve(1).first_sequence == lost.first_sequence + 1);
}

TEST_CASE("a launch after a restored backup has none of the names that were given out since the backup") {
    World world;
    auto lost = world.reserve(2);
    lost.complete();
    auto pool = world.pool();
    pool.status.nextClaimSequence = lost.first_sequence;
    pool.status.reserved = {};
    world.server.put(pool);
    world.run_for(100ms);
    CHECK(world.reserve(1).first_sequence == lost.first_sequence + 2);
    CHECK(world.pool().status.nextClaimSequence == lost.first_sequence + 3);
}

TEST_CASE("a launch has another name while addresses are kept for a machine whose claim is gone") {
    World world;
    auto lost = world.reserve(1);
    lost.complete();
    auto pool = world.pool();
    pool.status.addresses.push_back(
        {.address = "10.7.0.2", .claim = controllers::provisioning::claim_name(pool, lost.first_sequence)});
    world.server.put(pool);
    world.run_for(100ms);
    CHECK(world.reserve(1).first_sequence == lost.first_sequence + 1);
}

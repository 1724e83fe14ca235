// Tests the content of the operator's caches.
#include "test/support/catch.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/unit/controllers/cluster.hpp"

using namespace std::chrono_literals;

TEST_CASE("a new leader knows the writes of the last one before the watches report them") {
    test::Cluster cluster;
    cluster.put_basics();
    cluster.server.put(objects::pool("small"));
    cluster.start();
    cluster.server.options().watch_delay = 1h;
    const auto launched = cluster.server.put(objects::created_claim("small-1", cluster.pool(), 1, 2, 4096));
    cluster.server.edit<objects::NodeSmithPool>({"default", "small"},
                                                [](auto& pool) { pool.status.nextClaimSequence = 2; });
    cluster.run_for(1s);
    const auto known = [&] { return cluster.informers.claims.store().get(api::key_of(launched)) != nullptr; };
    REQUIRE_FALSE(known());

    test::run(cluster.context, cluster.clock, cluster.informers.catch_up(cluster.client));
    CHECK(known());
    CHECK(cluster.informers.pools.store().get({"default", "small"})->status.nextClaimSequence == 2);
    cluster.stop();
}

TEST_CASE("of a pod's conditions it is kept whether the pod is Ready, but not why") {
    api::Pod pod;
    for (const auto* type : {"Initialized", "Ready", "ContainersReady"})
        api::set_condition(*pod.status.conditions, {type, api::ConditionStatus::False, "Why", "because", 1},
                           objects::kStart);
    controllers::forget_unread(pod);
    REQUIRE(pod.status.conditions->size() == 1);
    const auto& ready = pod.status.conditions->front();
    CHECK(ready.type == "Ready");
    CHECK(ready.status == api::ConditionStatus::False);
    CHECK((ready.reason + ready.message).empty());
    CHECK_FALSE(ready.lastTransitionTime);
}

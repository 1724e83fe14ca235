// Tests launches when the API server fails, the operator restarts, or two operators are at work.
#include <set>

#include "controllers/provisioning/facts/claim_factory.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/provisioning_world.hpp"

using namespace std::chrono_literals;
using controllers::ProvisioningReconciler;
using objects::NodeSmithClaim;
using World = test::ProvisioningWorld;

namespace {

bool creates_claim(const base::HttpRequest& request) {
    return request.method == "POST" && request.target.find("/nodesmithclaims") != std::string::npos;
}

// LatePools has no reconciler of pools, so their statuses are outdated.
struct LatePools : test::Cluster {
    ProvisioningReconciler provisioning{
        {informers, client, clock, events, metrics}, reservations, [] { return true; }};

    LatePools() {
        put_basics();
        server.put(World::fixed_size_pool());
        add("provisioning", provisioning);
        start();
    }
    ~LatePools() { stop(); }
};

}  // namespace

TEST_CASE("a claim that failed backs its pool off before the pool's status says so") {
    LatePools world;
    world.put_pending_pod("web");
    world.run_for(5s);
    REQUIRE(world.claims().size() == 1);
    world.fail(world.claims().front());
    world.run_for(9s);
    CHECK(world.claims().size() == 1);
    world.run_for(5s);
    CHECK(world.claims().size() == 2);
}

TEST_CASE("a creation whose answer was lost is repeated under the same name and found done") {
    World world(World::fixed_size_pool());
    int lost = 0;
    world.requests.on_effect = [&](const base::HttpRequest& request) {
        if (creates_claim(request) && ++lost <= 2) throw base::TransportError("connection reset", true);
    };
    world.put_pending_pods(3);
    world.run_for(1min);
    CHECK(lost >= 3);
    CHECK(world.claims().size() == 3);
    CHECK(world.pool().status.reserved.nodes == 3);
    CHECK(world.pool().status.nextClaimSequence == 4);
}

TEST_CASE(
    "creations that fail for longer than their reservation may be used are decided anew, within the limit") {
    auto pool = World::fixed_size_pool();
    pool.spec.limits.maxNodes = 3;
    World world(pool);
    bool broken = true;
    world.requests.on_request = [&](const base::HttpRequest& request) {
        if (broken && creates_claim(request)) throw base::TransportError("connection refused", false);
    };
    world.put_pending_pods(3);
    world.run_for(40s);
    CHECK(world.claims().empty());
    CHECK(world.pool().status.reserved.nodes == 3);
    broken = false;
    world.run_for(2min);
    CHECK(world.claims().size() == 3);
    CHECK(world.pool().status.reserved.nodes == 3);
}

TEST_CASE(
    "a process that starts after a crash between reserving and creating launches immediately, under the same "
    "names") {
    auto pool = World::fixed_size_pool();
    pool.status.reserved = {2, 4, 8192, objects::kStart};
    pool.status.nextClaimSequence = 3;
    World world(pool);
    world.put_pending_pods(2);
    world.run_for(5s);
    REQUIRE(world.claims().size() == 2);
    std::set<std::string> keys;
    for (const auto& claim : world.claims()) keys.insert(claim.spec.idempotencyKey);
    const auto uid = world.pool().metadata.uid;
    CHECK(keys == std::set<std::string>{uid + "/1", uid + "/2"});
    world.run_for(2min);
    CHECK(world.claims().size() == 2);
    CHECK(world.pool().status.reserved.nodes == 2);
}

TEST_CASE("a claim that a dead process requested and that arrives late counts as the one to be created") {
    auto pool = World::fixed_size_pool();
    pool.status.reserved = {2, 4, 8192, objects::kStart};
    pool.status.nextClaimSequence = 3;
    World world(pool);
    // The late claim arrives after the successor's decision and before its own request.
    const auto name = controllers::provisioning::make_claim(world.pool(), 1, {}).metadata.name;
    auto late = objects::created_claim(name, world.pool(), 1);
    world.server.options().watch_delay = 10s;
    world.server.put(late);
    world.put_pending_pods(2);
    world.run_for(3min);
    CHECK(world.claims().size() == 2);
}

TEST_CASE("two simultaneous operators with stale caches launch no more than the limit") {
    auto pool = World::fixed_size_pool();
    pool.spec.limits.maxNodes = 4;
    World world(pool);
    kube::Client client(world.server.connect(), world.clock, world.metrics);
    controllers::Informers informers(client, world.clock, *world.random, world.context.get_executor());
    controllers::Reservations reservations(informers, client, world.clock);
    ProvisioningReconciler second({informers, client, world.clock, world.events, world.metrics}, reservations,
                                  [] { return true; });
    kube::ControllerOptions options;
    options.name = "second";
    kube::Controller controller(options, second, world.context.get_executor(), world.clock, world.metrics);
    second.subscribe(controller.queue());
    base::TaskGroup group(world.context.get_executor());
    informers.spawn_all(group);
    world.run_for(1s);
    group.spawn(controller.run());

    world.server.options().watch_delay = 700ms;
    world.put_pending_pods(8);
    std::size_t most = 0;
    for (int i = 0; i < 1200; ++i) {
        world.run_for(100ms);
        most = std::max(most, world.claims().size());
    }
    CHECK(most == 4);
    group.stop();
    world.run_for(1s);
}

TEST_CASE("claims that have no host yet count against what the hosts have left") {
    World world(World::fixed_size_pool());
    world.server.edit<objects::NodeSmithProvider>(
        {"default", "proxmox"}, [](auto& p) { p.status.hosts[0].freeMemoryMiB = 3 * 4096; });
    world.put_pending_pods(2);
    world.run_for(3s);
    REQUIRE(world.claims().size() == 2);
    world.put_pending_pod("third", "1500m");
    world.put_pending_pod("fourth", "1500m");
    world.run_for(10s);
    CHECK(world.claims().size() == 3);
    CHECK(world.events.count("NoNodeForPod") == 1);
}

TEST_CASE("deleting the claims of a waiting pod does not cause endless launches") {
    World world;
    world.put_pending_pod("web");
    std::size_t deleted = 0;
    for (int minute = 0; minute < 55; ++minute) {
        world.run_for(1min);
        for (const auto& claim : world.claims()) {
            world.server.remove<NodeSmithClaim>(api::key_of(claim));
            ++deleted;
        }
        world.finish_deletions();
    }
    CHECK(deleted == 3);
}

#include "controllers/control_plane_reconciler.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

using namespace controllers;
using api::ConditionStatus;

namespace {

struct World {
    objects::NodeSmithControlPlane object = objects::control_plane("main", {"small"});
    std::vector<objects::NodeSmithPool> pools = {objects::pool("small")};
    std::vector<objects::NodeSmithProvider> providers = {objects::provider("proxmox")};
    std::vector<objects::NodeSmithControlPlane> others;
    PoolCounts fleet;

    api::v1alpha1::ControlPlaneStatus look(api::Time now = objects::kStart) {
        auto all = others;
        all.push_back(object);
        const auto known_pools = objects::store_of<objects::NodeSmithPool>(pools);
        const auto known_control_planes = objects::store_of<objects::NodeSmithControlPlane>(all);
        const auto known_providers = objects::store_of<objects::NodeSmithProvider>(providers);
        ControlPlaneFacts facts{object, known_pools, known_control_planes, known_providers, 1, fleet};
        return next_status(facts, now);
    }
    std::string ready() {
        const auto status = look();
        const auto* condition = api::find_condition(status.conditions, "Ready");
        return std::string(to_string(condition->status)) + " " + condition->reason;
    }
};

}  // namespace

TEST_CASE("a control plane is Ready when its pools and their providers are there and work") {
    World world;
    CHECK(world.ready() == "True PoolsResolved");
    world.object.spec.pools = {"*"};
    CHECK(world.ready() == "True PoolsResolved");
    world.object.spec.pools = {};
    CHECK(world.ready() == "True PoolsResolved");
}

TEST_CASE("the first problem of a control plane's pools is its reason, with the names of the Go project") {
    World world;
    SECTION("a listed pool is missing") {
        world.object.spec.pools = {"small", "typo"};
        CHECK(world.ready() == "False PoolMissing");
    }
    SECTION("a pool names no provider") {
        world.pools[0].spec.providerRef = "";
        CHECK(world.ready() == "False ProviderRefMissing");
    }
    SECTION("the provider is missing") {
        world.providers.clear();
        CHECK(world.ready() == "False ProviderMissing");
    }
    SECTION("the provider does not work") {
        world.providers[0] = objects::provider("proxmox", ConditionStatus::False);
        CHECK(world.ready() == "False ProviderInitializationFailed");
    }
    SECTION("the provider makes its templates still") {
        world.providers[0] = objects::provider("proxmox", ConditionStatus::False);
        auto& all = world.providers[0].status.conditions;
        objects::set_condition(all, api::conditions::kReady, ConditionStatus::False, objects::kStart,
                               "ImagePreparing");
        CHECK(world.ready() == "False ImagePreparing");
    }
    SECTION("the provider was not examined yet") {
        world.providers[0].status.conditions.clear();
        CHECK(world.ready() == "Unknown NotReconciled");
    }
    SECTION("a pool that another control plane manages is that one's business") {
        world.object.spec.pools = {"*"};
        world.others = {objects::control_plane("other", {"small"})};
        world.providers.clear();
        CHECK(world.ready() == "True PoolsResolved");
    }
}

TEST_CASE("lastSyncTime is written when something changed, not on each pass") {
    World world;
    world.object.status = world.look(objects::at(std::chrono::seconds{1}));
    CHECK(world.object.status.lastSyncTime == objects::at(std::chrono::seconds{1}));
    CHECK(world.look(objects::at(std::chrono::seconds{60})) == world.object.status);
    world.fleet.nodes = 1;
    CHECK(world.look(objects::at(std::chrono::seconds{90})).lastSyncTime ==
          objects::at(std::chrono::seconds{90}));
}

TEST_CASE("the cluster is unhealthy when both bounds on unready nodes are exceeded") {
    struct Row {
        std::int64_t in_service, unready;
        bool unhealthy;
    };
    for (const auto& row : {Row{0, 0, false}, Row{3, 3, false}, Row{4, 4, true}, Row{8, 4, true},
                            Row{9, 4, false}, Row{100, 45, false}, Row{100, 46, true}}) {
        World world;
        world.fleet.in_service = row.in_service;
        world.fleet.unready = row.unready;
        CHECK(is_unhealthy(world.object, world.fleet) == row.unhealthy);
        const auto status = world.look();
        CHECK(api::is_false(status.conditions, "ClusterHealthy") == row.unhealthy);
    }
}

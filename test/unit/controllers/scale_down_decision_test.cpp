#include "controllers/scale_down_decision.hpp"

#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

using namespace controllers;
using namespace std::chrono_literals;
using api::ConditionStatus;

namespace {

std::string reason(const std::optional<Blocker>& blocker) {
    return blocker ? blocker->reason : "";
}

struct NodeWorld {
    objects::NodeSmithPool pool = objects::pool("small");
    objects::NodeSmithClaim claim = objects::in_service(objects::bought_claim("a", pool, 1));
    api::Node node = objects::node("a");
    std::int64_t pods = 0, staying = 1;
    std::vector<std::string> needed_because;

    NodeWorld() { claim.status.emptySince = objects::kStart; }
    std::optional<Blocker> blocker(std::chrono::seconds now = 1h) const {
        NodeRemovalFacts facts{pool, claim, node, pods, needed_because, staying};
        return node_blocker(facts, objects::at(now));
    }
};

struct PoolWorld {
    objects::NodeSmithPool pool = objects::pool("small");
    objects::NodeSmithControlPlane manager = objects::control_plane("main", {"*"});
    Fleet fleet;
    std::int64_t leaving = 0, removals = 0;
    std::optional<api::Time> last_abort;

    std::optional<Blocker> blocker(std::chrono::seconds now = 1h) const {
        PoolRemovalFacts facts{pool, &manager, fleet, leaving, removals, last_abort};
        return pool_blocker(facts, objects::at(now));
    }
};

}  // namespace

TEST_CASE("a node in service that has been empty long enough may leave") {
    CHECK_FALSE(NodeWorld{}.blocker());
}

TEST_CASE("an empty node stays for the grace period and until it is old enough") {
    NodeWorld world;
    CHECK(reason(world.blocker(119s)) == "EmptyGracePeriod");
    CHECK(world.blocker(119s)->until == objects::at(120s));
    CHECK(reason(world.blocker(120s)) == "MinNodeAge");
    CHECK(world.blocker(120s)->until == objects::at(600s));
    CHECK_FALSE(world.blocker(600s));
}

TEST_CASE("what keeps a node that is empty") {
    NodeWorld world;
    SECTION("a pod") {
        world.pods = 1;
        CHECK(reason(world.blocker()) == "NotEmpty");
    }
    SECTION("not being Ready: its pods may still run") {
        world.node = objects::node("a", false);
        CHECK(reason(world.blocker()) == "NodeNotReady");
    }
    SECTION("a user's cordon") {
        world.node.spec.unschedulable = true;
        CHECK(reason(world.blocker()) == "Cordoned");
    }
    SECTION("having been applied by a user") {
        world.claim.metadata.ownerReferences.clear();
        CHECK(reason(world.blocker()) == "AppliedByUser");
    }
    SECTION("minNodes") {
        world.pool.spec.limits.minNodes = 1;
        CHECK(reason(world.blocker()) == "MinNodes");
        world.staying = 2;
        CHECK_FALSE(world.blocker());
    }
    SECTION("a pending pod or headroom, by the simulation") {
        world.needed_because = {"pod default/web fits no other node"};
        CHECK(reason(world.blocker()) == "Needed");
        CHECK(world.blocker()->message == "pod default/web fits no other node");
    }
}

TEST_CASE("annotations keep a node: always, or for a time from its creation") {
    struct Row {
        const char *key, *value;
        bool kept_after_an_hour;
    };
    for (const auto& row : {Row{"kubenodesmith.io/do-not-disrupt", "true", true},
                            Row{"kubenodesmith.io/do-not-disrupt", "2h", true},
                            Row{"kubenodesmith.io/do-not-disrupt", "30m", false},
                            Row{"kubenodesmith.io/do-not-disrupt", "false", false},
                            Row{"kubenodesmith.io/do-not-disrupt", "yes please", false},
                            Row{"karpenter.sh/do-not-disrupt", "true", true},
                            Row{"cluster-autoscaler.kubernetes.io/scale-down-disabled", "true", true},
                            Row{"cluster-autoscaler.kubernetes.io/scale-down-disabled", "false", false}}) {
        NodeWorld world;
        world.node.metadata.annotations[row.key] = row.value;
        CHECK(reason(world.blocker(1h)) == (row.kept_after_an_hour ? "DoNotDisrupt" : ""));
    }
}

TEST_CASE("what keeps all nodes of a pool") {
    PoolWorld world;
    CHECK_FALSE(world.blocker());
    SECTION("no control plane") {
        PoolRemovalFacts facts{world.pool};
        CHECK(reason(pool_blocker(facts, objects::at(1h))) == "NotSelected");
    }
    SECTION("a paused control plane") {
        world.manager.spec.mode = api::v1alpha1::Mode::Paused;
        CHECK(reason(world.blocker()) == "Paused");
    }
    SECTION("the pool's policy") {
        world.pool.spec.scaleDown.policy = api::v1alpha1::ScaleDownPolicy::Never;
        CHECK(reason(world.blocker()) == "ScaleDownPolicy");
    }
    SECTION("an unhealthy cluster") {
        world.fleet.in_service = world.fleet.unready = 4;
        CHECK(reason(world.blocker()) == "TooManyUnready");
    }
    SECTION("a recent scale-up") {
        world.pool.status.lastScaleUpTime = objects::kStart;
        CHECK(reason(world.blocker(299s)) == "StabilizationWindow");
        CHECK_FALSE(world.blocker(300s));
    }
    SECTION("a recent removal") {
        world.pool.spec.scaleDown.delayAfterDelete = 1min;
        world.pool.status.lastScaleDownTime = objects::kStart;
        CHECK(reason(world.blocker(59s)) == "DelayAfterDelete");
        CHECK_FALSE(world.blocker(60s));
    }
    SECTION("a recent failure") {
        world.last_abort = objects::kStart;
        CHECK(reason(world.blocker(599s)) == "DelayAfterFailure");
        CHECK_FALSE(world.blocker(600s));
    }
    SECTION("others that are leaving") {
        world.leaving = 1;
        CHECK(reason(world.blocker()) == "MaxConcurrent");
        world.pool.spec.scaleDown.maxConcurrent = 2;
        CHECK_FALSE(world.blocker());
    }
    SECTION("the rate limit") {
        world.manager.spec.rateLimits.maxRemovalsPerHour = 3;
        world.removals = 2;
        CHECK_FALSE(world.blocker());
        world.removals = 3;
        CHECK(reason(world.blocker()) == "RateLimited");
    }
}

TEST_CASE("since when a node is empty is kept in the claim and ends with the first pod") {
    NodeWorld world;
    world.claim.status.emptySince.reset();
    CHECK(empty_since(world.claim, &world.node, 0, objects::at(5s)) == objects::at(5s));
    world.claim.status.emptySince = objects::at(5s);
    CHECK(empty_since(world.claim, &world.node, 0, objects::at(50s)) == objects::at(5s));
    CHECK_FALSE(empty_since(world.claim, &world.node, 1, objects::at(50s)));
    CHECK_FALSE(empty_since(world.claim, nullptr, 0, objects::at(50s)));
    CHECK_FALSE(empty_since(objects::bought_claim("b", world.pool, 2), &world.node, 0, objects::at(50s)));
}

TEST_CASE("a node that goes back in service loses our taint and label and keeps everything else") {
    auto node = objects::node("a");
    node.spec.taints = {{"example.com/own", "", "NoSchedule", {}},
                        {"kubenodesmith.io/disrupted", "", "NoSchedule", {}}};
    node.metadata.labels = {{"rack", "1"},
                            {"node.kubernetes.io/exclude-from-external-load-balancers", "true"}};
    node.spec.unschedulable = true;
    CHECK(has_leaving_taint(node));
    const auto back = back_in_service(node);
    CHECK_FALSE(has_leaving_taint(back));
    CHECK(back.spec.taints.size() == 1);
    CHECK(back.metadata.labels == api::StringMap{{"rack", "1"}});
    CHECK(back.spec.unschedulable);
}

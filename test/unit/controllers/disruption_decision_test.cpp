// Tests when a node is a candidate for disruption, and what prevents the disruption.
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/disruption/methods/method.hpp"
#include "controllers/disruption/rules/blocks.hpp"
#include "controllers/disruption/rules/drift_reasons.hpp"
#include "controllers/disruption/rules/idleness.hpp"

#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

using namespace controllers;
using namespace controllers::disruption;
using namespace std::chrono_literals;
using api::ConditionStatus;

namespace {

std::string reason(const std::optional<Blocker>& blocker) {
    return blocker ? blocker->reason : "";
}

struct PoolWorld {
    objects::NodeSmithPool pool = objects::pool("small");
    objects::NodeSmithControlPlane manager = objects::control_plane("main", {"*"});
    PoolFacts facts{pool, &manager, {}, 10, 10};

    std::optional<Blocker> blocker(std::chrono::seconds now = 1h, Kind kind = Kind::Empty) const {
        return pool_blocker(facts, kind, objects::at(now));
    }
};

struct NodeWorld {
    PoolWorld of_pool;
    objects::NodeSmithPool& pool = of_pool.pool;
    objects::NodeSmithClaim claim = objects::in_service(objects::created_claim("a", pool, 1));
    api::Node node = objects::node("a");
    NodeFacts facts{pool, claim, node};

    NodeWorld() { facts.empty_since = objects::kStart; }
    std::optional<Blocker> blocker(std::chrono::seconds now = 1h, Kind kind = Kind::Empty) const {
        return node_blocker(of_pool.facts, facts, kind, objects::at(now));
    }
    std::vector<Kind> kinds(std::chrono::seconds now = 1h) const {
        std::vector<Kind> found;
        for (const auto& method : methods())
            if (!method.candidacy(facts, objects::at(now)).why.empty()) found.push_back(method.kind);
        return found;
    }
};

}  // namespace

TEST_CASE("a node in service that has been empty long enough may leave") {
    CHECK_FALSE(NodeWorld{}.blocker());
}

TEST_CASE("a node that has just become Ready has a moment to get its pods before it counts as empty") {
    NodeWorld world;
    world.facts.empty_since.reset();
    CHECK_FALSE(empty_since(world.facts, objects::at(4s)));
    CHECK_FALSE(unneeded_since(world.facts, objects::at(4s)));
    CHECK(settles_in(world.facts, objects::at(4s)) == 1s);
    CHECK(empty_since(world.facts, objects::at(5s)) == objects::at(5s));
    CHECK(unneeded_since(world.facts, objects::at(5s)) == objects::at(5s));
    CHECK_FALSE(settles_in(world.facts, objects::at(5s)));
}

TEST_CASE("an empty node stays for the grace period and until it is old enough") {
    NodeWorld world;
    CHECK(reason(world.blocker(119s)) == "EmptyGracePeriod");
    CHECK(world.blocker(119s)->until == objects::at(120s));
    CHECK(reason(world.blocker(120s)) == "MinNodeAge");
    CHECK(world.blocker(120s)->until == objects::at(600s));
    CHECK_FALSE(world.blocker(600s));
}

TEST_CASE("a drain that was given up holds its own node for a while, and no other") {
    NodeWorld world;
    const auto give_up = [](objects::NodeSmithClaim& claim, std::string_view reason) {
        api::Condition disrupted;
        disrupted.type = api::conditions::kDisrupted;
        disrupted.status = api::ConditionStatus::False;
        disrupted.reason = reason;
        disrupted.lastTransitionTime = objects::at(1h);
        claim.status.conditions.push_back(disrupted);
    };
    give_up(world.claim, "DrainTimeout");
    CHECK(reason(world.blocker(1h + 599s, Kind::Drifted)) == "DelayAfterFailure");
    CHECK_FALSE(world.blocker(1h + 600s, Kind::Drifted));
    CHECK_FALSE(world.blocker(1h + 599s, Kind::Unhealthy));
    CHECK_FALSE(NodeWorld{}.blocker(1h + 599s, Kind::Drifted));
    NodeWorld needed;
    give_up(needed.claim, "Needed");
    CHECK_FALSE(needed.blocker(1h + 599s, Kind::Drifted));
}

TEST_CASE("what keeps a node that is empty") {
    NodeWorld world;
    SECTION("not being Ready: its pods may still run") {
        world.node = objects::node("a", false);
        CHECK(reason(world.blocker()) == "NodeNotReady");
    }
    SECTION("a user's cordon") {
        world.node.spec.unschedulable = true;
        CHECK(reason(world.blocker()) == "Cordoned");
    }
    SECTION("a pod on it that cannot be decoded, but for a repair") {
        world.facts.unreadable_pod = "default/odd";
        CHECK(reason(world.blocker()) == "PodNotReadable");
        CHECK(reason(world.blocker(1h, Kind::Drifted)) == "PodNotReadable");
        CHECK_FALSE(world.blocker(1h, Kind::Unhealthy));
    }
    SECTION("having been applied by a user") {
        world.claim.metadata.ownerReferences->clear();
        CHECK(reason(world.blocker()) == "AppliedByUser");
    }
    SECTION("a machine that would be kept") {
        world.claim.spec.deletionPolicy = api::v1alpha1::DeletionPolicy::Retain;
        CHECK(reason(world.blocker()) == "Retained");
        for (const auto kind : {Kind::Underutilized, Kind::Drifted, Kind::Expired, Kind::Evacuation})
            CHECK(reason(world.blocker(1h, kind)) == "Retained");
        CHECK_FALSE(world.blocker(1h, Kind::Unhealthy));
    }
    SECTION("minNodes") {
        world.pool.spec.limits.minNodes = 1;
        world.of_pool.facts.staying = 1;
        CHECK(reason(world.blocker()) == "MinNodes");
        world.of_pool.facts.staying = 2;
        CHECK_FALSE(world.blocker());
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
        world.facts.manager = nullptr;
        CHECK(reason(world.blocker()) == "NotSelected");
    }
    SECTION("a paused control plane") {
        world.manager.spec.mode = api::v1alpha1::Mode::Paused;
        CHECK(reason(world.blocker()) == "Paused");
    }
    SECTION("an unhealthy cluster") {
        world.facts.manager_counts.in_service = world.facts.manager_counts.unready = 4;
        CHECK(reason(world.blocker()) == "TooManyUnready");
    }
    SECTION("a recent scale-up") {
        world.pool.status.lastScaleUpTime = objects::kStart;
        CHECK(reason(world.blocker(299s)) == "StabilizationWindow");
        CHECK_FALSE(world.blocker(300s));
    }
    SECTION("having launched a node soon after one was removed") {
        world.pool.status.lastScaleDownTime = objects::kStart;
        world.pool.status.lastScaleUpTime = objects::at(29min);
        CHECK(reason(world.blocker(34min)) == "Flapping");
        CHECK(world.blocker(34min)->until == objects::at(59min));
        CHECK_FALSE(world.blocker(59min));
        world.pool.status.lastScaleUpTime = objects::at(30min);
        CHECK_FALSE(world.blocker(35min));
    }
    SECTION("a recent removal") {
        world.pool.spec.scaleDown.delayAfterDelete = 1min;
        world.pool.status.lastScaleDownTime = objects::kStart;
        CHECK(reason(world.blocker(59s)) == "DelayAfterDelete");
        CHECK_FALSE(world.blocker(60s));
    }
    SECTION("a recent failure") {
        world.facts.last_failure = objects::kStart;
        CHECK(reason(world.blocker(599s)) == "DelayAfterFailure");
        CHECK_FALSE(world.blocker(600s));
    }
    SECTION("others that are leaving") {
        world.facts.leaving = 1;
        CHECK(reason(world.blocker()) == "MaxConcurrent");
        world.pool.spec.scaleDown.maxConcurrent = 2;
        CHECK(reason(world.blocker()) == "Budget");
        world.pool.spec.disruption.budgets = {{"20%", {}, "", {}}};
        CHECK_FALSE(world.blocker());
    }
    SECTION("the rate limit") {
        world.manager.spec.rateLimits.maxRemovalsPerHour = 3;
        world.facts.removals_last_hour = 2;
        CHECK_FALSE(world.blocker());
        world.facts.removals_last_hour = 3;
        CHECK(reason(world.blocker()) == "RateLimited");
    }
}

TEST_CASE("since when a node is empty is kept in the claim and ends with the first pod") {
    NodeWorld world;
    const auto since = [&world](std::chrono::seconds now) {
        return empty_since(world.facts, objects::at(now));
    };
    world.facts.empty_since.reset();
    CHECK(since(5s) == objects::at(5s));
    world.facts.empty_since = objects::at(5s);
    CHECK(since(50s) == objects::at(5s));
    world.facts.evictable_pods = 1;
    CHECK_FALSE(since(50s));
    world.facts.evictable_pods = 0;
    world.claim = objects::created_claim("b", world.pool, 2);
    CHECK_FALSE(since(50s));
}

TEST_CASE("since when a node is hardly used is kept in the claim and ends when it is used again") {
    NodeWorld world;
    const auto since = [&world](std::chrono::seconds now) {
        return unneeded_since(world.facts, objects::at(now));
    };
    world.facts.utilization_percent = 49.9;
    CHECK(since(5s) == objects::at(5s));
    world.facts.unneeded_since = objects::at(5s);
    CHECK(since(50s) == objects::at(5s));
    world.facts.utilization_percent = 50;
    CHECK_FALSE(since(50s));
}

TEST_CASE(
    "a node in use counts as unneeded if its pods are worth too little of its price, where its pool says "
    "so") {
    NodeWorld world;
    world.facts.utilization_percent = 90;
    world.facts.price_percent = 59.9;
    CHECK_FALSE(unneeded_since(world.facts, objects::at(5s)));
    world.pool.spec.scaleDown.priceThresholdPercent = 60;
    CHECK(unneeded_since(world.facts, objects::at(5s)) == objects::at(5s));
    world.facts.price_percent = 60;
    CHECK_FALSE(unneeded_since(world.facts, objects::at(5s)));
}

TEST_CASE("a node that is in use is a candidate when its pool had a node to spare for long enough") {
    NodeWorld world;
    world.facts.empty_since.reset();
    world.facts.evictable_pods = 3;
    world.facts.spare_since = objects::kStart;
    CHECK(world.kinds(599s).empty());
    CHECK(method_for(Kind::Underutilized).candidacy(world.facts, objects::at(599s)).look_again ==
          objects::at(600s));
    CHECK(world.kinds(600s) == std::vector{Kind::Underutilized});
    CHECK_FALSE(is_unneeded(world.facts, objects::at(600s)));
    world.pool.spec.scaleDown.policy = api::v1alpha1::ScaleDownPolicy::WhenEmpty;
    CHECK(world.kinds(600s).empty());
}

TEST_CASE("what a node is a candidate for, the most urgent first") {
    NodeWorld world;
    using Kinds = std::vector<Kind>;
    world.facts.empty_since.reset();
    CHECK(world.kinds().empty());
    SECTION("empty, unless the policy is Never") {
        world.facts.empty_since = objects::kStart;
        CHECK(world.kinds() == Kinds{Kind::Empty});
        world.pool.spec.scaleDown.policy = api::v1alpha1::ScaleDownPolicy::Never;
        CHECK(world.kinds().empty());
    }
    SECTION("hardly used for long enough, if the policy asks for it") {
        world.facts.evictable_pods = 1;
        world.facts.unneeded_since = objects::kStart;
        CHECK(world.kinds(599s).empty());
        CHECK(method_for(Kind::Underutilized).candidacy(world.facts, objects::at(599s)).look_again ==
              objects::at(600s));
        CHECK(world.kinds(600s) == Kinds{Kind::Underutilized});
        world.pool.spec.scaleDown.policy = api::v1alpha1::ScaleDownPolicy::WhenEmpty;
        CHECK(world.kinds(600s).empty());
    }
    SECTION("drifted, unless that is ignored") {
        world.facts.drift = "it differs";
        CHECK(world.kinds() == Kinds{Kind::Drifted});
        world.pool.spec.disruption.drift = api::v1alpha1::DriftPolicy::Ignore;
        CHECK(world.kinds().empty());
    }
    SECTION("too old by what its pool says, or the claim if a user applied it") {
        world.pool.spec.disruption.expireAfter.duration = 2h;
        CHECK(world.kinds(7198s).empty());
        CHECK(world.kinds(7200s) == Kinds{Kind::Expired});
        world.claim.spec.expireAfter.emplace().duration = 3h;
        CHECK(world.kinds(7200s) == Kinds{Kind::Expired});
        world.claim.metadata.ownerReferences->clear();
        CHECK(world.kinds(7200s).empty());
        CHECK(world.kinds(10800s) == Kinds{Kind::Expired});
    }
    SECTION("on a host that is evacuated") {
        world.facts.evacuated = "host pve1 is being evacuated";
        world.facts.drift = "it differs";
        CHECK(world.kinds() == Kinds{Kind::Evacuation, Kind::Drifted});
    }
    SECTION("not Ready for long, or with a machine that is off") {
        world.node = objects::node("a", false);
        objects::set_condition(world.claim.status.conditions, "Ready", ConditionStatus::False);
        CHECK(world.kinds(599s).empty());
        CHECK(world.kinds(600s) == Kinds{Kind::Unhealthy});
        world.facts.machine_stopped = true;
        CHECK(world.kinds(60s) == Kinds{Kind::Unhealthy});
        world.pool.spec.disruption.repair.action = api::v1alpha1::RepairAction::None;
        CHECK(world.kinds(600s).empty());
    }
    SECTION("not Ready for long by our own record, whatever clock wrote the Node's condition") {
        world.node = objects::node("a", false);
        CHECK(world.kinds(1000h).empty());
        CHECK(method_for(Kind::Unhealthy).candidacy(world.facts, objects::at(1h)).look_again ==
              objects::at(1h + 600s));
        objects::set_condition(world.claim.status.conditions, "Ready", ConditionStatus::False,
                               objects::at(1h));
        CHECK(world.kinds(1h + 599s).empty());
        CHECK(world.kinds(1h + 600s) == Kinds{Kind::Unhealthy});
        // The clock that wrote this condition is ahead.
        world.node.status.conditions.clear();
        objects::set_condition(world.node.status.conditions, "Ready", ConditionStatus::False,
                               objects::at(9h));
        CHECK(world.kinds(1h + 600s).empty());
        CHECK(world.kinds(9h + 600s) == Kinds{Kind::Unhealthy});
    }
    SECTION("not before it was in service") {
        world.facts.drift = "it differs";
        objects::set_condition(world.claim.status.conditions, "Initialized", ConditionStatus::False);
        CHECK(world.kinds().empty());
    }
}

TEST_CASE("drift compares what a machine was made from, and nothing that others write") {
    auto pool = objects::pool("small");
    auto claim = objects::in_service(objects::created_claim("a", pool, 1));
    claim.spec.requirements.cpuCores = 64;  // its Node has 2
    claim.status.templateHash = "3-then";
    CHECK(drift_of("3-then", claim).empty());
    CHECK(drift_of("3-now", claim).find("settings") != std::string::npos);
    CHECK(drift_of("", claim).empty());
    claim.status.templateHash = "of an operator of another version";
    CHECK(drift_of("3-now", claim).empty());
    claim.status.templateHash.clear();
    CHECK(drift_of("3-now", claim).empty());
}

TEST_CASE("a machine whose template was replaced has drifted, one whose template nobody knows has not") {
    api::v1alpha1::NodeSmithProvider provider;
    api::v1alpha1::NodeSmithClaim claim;
    provider.status.templates = {{"*", "9000-aa"}};
    CHECK(template_drift(provider, claim).empty());  // made before the operator recorded revisions
    claim.status.templateRevision = "9000-aa";
    CHECK(template_drift(provider, claim).empty());
    provider.status.templates = {{"*", "9001-bb"}};
    CHECK(template_drift(provider, claim).find("9000-aa") != std::string::npos);
    provider.status.templates = {{"pve1", "9001-bb"}, {"pve2", "9000-aa"}};
    CHECK(template_drift(provider, claim).empty());
    provider.status.templates.clear();
    CHECK(template_drift(provider, claim).empty());
}

TEST_CASE("what holds a scale-down back does not hold what must go") {
    PoolWorld world;
    world.pool.status.lastScaleUpTime = objects::kStart;
    CHECK(reason(world.blocker(1min, Kind::Underutilized)) == "StabilizationWindow");
    for (const auto kind : {Kind::Drifted, Kind::Expired, Kind::Evacuation, Kind::Unhealthy})
        CHECK_FALSE(world.blocker(1min, kind));
    NodeWorld node;
    CHECK(reason(node.blocker(1min, Kind::Underutilized)) == "MinNodeAge");
    CHECK_FALSE(node.blocker(1min, Kind::Drifted));
    node.node.spec.unschedulable = true;
    CHECK(reason(node.blocker(1h, Kind::Drifted)) == "Cordoned");
    CHECK_FALSE(node.blocker(1h, Kind::Evacuation));
}

TEST_CASE("an outage does not empty the pool") {
    PoolWorld world;
    world.facts.not_ready = 2;
    CHECK_FALSE(world.blocker(1h, Kind::Unhealthy));
    world.facts.not_ready = 3;
    CHECK(reason(world.blocker(1h, Kind::Unhealthy)) == "TooManyUnhealthy");
}

TEST_CASE("nodes that are not Ready use up the budget of others, not that of their repair") {
    PoolWorld world;
    world.facts.not_ready = 1;
    CHECK(reason(world.blocker(1h, Kind::Drifted)) == "Budget");
    CHECK_FALSE(world.blocker(1h, Kind::Unhealthy));
}

TEST_CASE("a removal that cannot end holds back what is whole, and says so") {
    PoolWorld world;
    world.facts.leaving = world.facts.stuck = 1;
    CHECK(reason(world.blocker(1h, Kind::Drifted)) == "RemovalStuck");
}

// Otherwise a drain waits for pods that a broken node keeps from serving.
TEST_CASE("a repair waits for other repairs, not for nodes that leave for other reasons") {
    PoolWorld world;
    world.facts.leaving = 1;
    CHECK(reason(world.blocker(1h, Kind::Drifted)) == "MaxConcurrent");
    CHECK_FALSE(world.blocker(1h, Kind::Unhealthy));
    world.facts.repairs = 1;
    CHECK(reason(world.blocker(1h, Kind::Unhealthy)) == "MaxConcurrent");
}

TEST_CASE("a node that goes back in service loses our taint and label and keeps everything else") {
    auto node = objects::node("a");
    node.spec.taints = {{"example.com/own", "", "NoSchedule", {}},
                        {"kubenodesmith.io/disrupted", "", "NoSchedule", {}}};
    node.metadata.labels = {{"rack", "1"},
                            {"node.kubernetes.io/exclude-from-external-load-balancers", "kubenodesmith"}};
    node.spec.unschedulable = true;
    CHECK(has_leaving_taint(node));
    const auto back = back_in_service(node);
    CHECK_FALSE(has_leaving_taint(back));
    CHECK(back.spec.taints.size() == 1);
    CHECK(back.metadata.labels == api::StringMap{{"rack", "1"}});
    CHECK(back.spec.unschedulable);
}

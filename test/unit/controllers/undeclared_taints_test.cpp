// Tests undeclared taints on new Nodes.
#include "controllers/claim/facts/undeclared_taints.hpp"

#include "controllers/claim/facts/known_taints.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/claim_scene.hpp"
#include "test/unit/controllers/disruption_world.hpp"

using namespace controllers;
using namespace std::chrono_literals;
using Catch::Contains;
using test::Scene;

namespace {

const api::Taint kAgent{"net.example/agent-not-ready", "true", "NoSchedule", std::nullopt};

// Writes the claim's status and returns the resulting condition.
const api::Condition* settled(Scene& scene, std::chrono::seconds now) {
    scene.now = objects::at(now);
    scene.claim.status = scene.decide().status;
    return api::find_condition(scene.claim.status.conditions, api::conditions::kTaintsSettled);
}

std::vector<api::Taint> temporary(const Scene& scene, std::chrono::seconds now) {
    return claim::temporary_taints({scene.claim, *scene.node, &scene.pool}, objects::at(now));
}

}  // namespace

TEST_CASE("an undeclared taint of a young Node is named by its claim, with what to do about it") {
    Scene scene;
    scene.in_service();
    CHECK_FALSE(settled(scene, 1s));
    scene.node->spec.taints = {kAgent};
    const auto* condition = settled(scene, 2s);
    REQUIRE(condition);
    CHECK(condition->status == api::ConditionStatus::False);
    CHECK(condition->reason == "TaintNotDeclared");
    CHECK_THAT(condition->message, Contains("net.example/agent-not-ready=true:NoSchedule") &&
                                       Contains("machineTemplate.startupTaints"));
    CHECK(scene.claim.status.undeclaredTaints == std::vector{kAgent});
    CHECK_FALSE(claim::usable_since(scene.claim));
    scene.node->spec.taints.clear();
    CHECK(settled(scene, 40s)->reason == "TaintsGone");
    CHECK(claim::usable_since(scene.claim) == objects::at(40s));
    CHECK(scene.claim.status.undeclaredTaints.empty());
}

TEST_CASE(
    "an undeclared taint that stays counts as permanent, and one that comes late is somebody's decision") {
    Scene scene;
    scene.in_service();
    scene.node->spec.taints = {kAgent};
    settled(scene, 2s);
    CHECK(scene.decide().look_again == objects::at(5min));
    CHECK(temporary(scene, 299s).size() == 1);
    // The taint counts as temporary until the claim says otherwise.
    CHECK(temporary(scene, 301s).size() == 1);
    CHECK(settled(scene, 5min)->reason == "TaintStays");
    CHECK(temporary(scene, 301s).empty());
    CHECK(claim::usable_since(scene.claim) == objects::at(5min));
    CHECK_FALSE(scene.decide().look_again);

    Scene old;
    old.in_service();
    settled(old, 10min);
    old.node->spec.taints = {kAgent};
    CHECK_FALSE(settled(old, 11min));
    CHECK(temporary(old, 11min).empty());
}

TEST_CASE("the pool says how long an undeclared taint counts as temporary") {
    Scene scene;
    scene.pool.spec.scaleUp.undeclaredTaintTimeout = 30s;
    scene.in_service();
    scene.node->spec.taints = {kAgent};
    CHECK(settled(scene, 29s)->reason == "TaintNotDeclared");
    CHECK(settled(scene, 30s)->reason == "TaintStays");
    Scene never;
    never.pool.spec.scaleUp.undeclaredTaintTimeout = 0s;
    never.in_service();
    never.node->spec.taints = {kAgent};
    CHECK(temporary(never, 0s).empty());
}

TEST_CASE("declared taints, those of Kubernetes and those of the operator are treated in their own way") {
    Scene scene;
    scene.in_service();
    scene.pool.spec.machineTemplate.taints = {{"dedicated", "db", "NoSchedule", std::nullopt}};
    scene.pool.spec.machineTemplate.startupTaints = {{"cni", "", "NoExecute", std::nullopt}};
    scene.claim.spec.taints = {{"of-claim", "", "NoSchedule", std::nullopt}};
    for (const auto* key : {"dedicated", "cni", "of-claim", "node.kubernetes.io/not-ready",
                            "node.kubernetes.io/unreachable", "node.kubernetes.io/disk-pressure",
                            "node.kubernetes.io/unschedulable", "node.kubernetes.io/out-of-service",
                            "kubenodesmith.io/disrupted", "kubenodesmith.io/unregistered"}) {
        const std::string effect = std::string(key) == "cni" ? "NoExecute" : "NoSchedule";
        scene.node->spec.taints = {{key, "", effect, std::nullopt}};
        CHECK(temporary(scene, 1s).empty());
    }
    scene.node->spec.taints = {{"soft", "", "PreferNoSchedule", std::nullopt}};
    CHECK(temporary(scene, 1s).empty());
    for (const auto* key : {"readiness.k8s.io/network", "node.kubernetes.io/network-unavailable"}) {
        scene.node->spec.taints = {{key, "", "NoSchedule", std::nullopt}};
        CHECK(temporary(scene, 1s).size() == 1);
    }
    const api::v1alpha1::HostSpec host{.taints = {kAgent}};
    scene.node->spec.taints = {kAgent};
    CHECK(claim::temporary_taints({scene.claim, *scene.node, &scene.pool, &host}, objects::at(1s)).empty());
}

TEST_CASE("the pool remembers a taint that stayed until a younger Node has none, and then tries again") {
    auto pool = objects::pool("small");
    std::vector<objects::NodeSmithClaim> claims;
    const auto add = [&](int number, bool keeps_taint) -> objects::NodeSmithClaim& {
        auto claim = objects::in_service(objects::created_claim("c" + std::to_string(number), pool, number),
                                         objects::at(std::chrono::minutes{number}));
        claim.metadata.creationTimestamp = objects::at(std::chrono::minutes{number});
        if (keeps_taint) {
            claim::set(claim.status, api::conditions::kTaintsSettled, api::ConditionStatus::True,
                       api::reasons::kTaintStays, "", objects::at(std::chrono::minutes{number + 5}));
            claim.status.undeclaredTaints = {kAgent};
        }
        claims.push_back(claim);
        return claims.back();
    };
    const auto learn = [&](std::chrono::minutes now) {
        pool.status.undeclaredTaints = learn_taints(pool, objects::pointers(claims), objects::at(now));
        return pool.status.undeclaredTaints;
    };
    CHECK(learn(0min).empty());
    add(1, true);
    REQUIRE(learn(10min).size() == 1);
    CHECK(is_expected(pool.status.undeclaredTaints[0], objects::at(10min)));
    CHECK_THAT(stays_text(pool), Contains(kAgent.key) && Contains("startupTaints"));
    // A new Node proves nothing yet.
    add(11, false);
    CHECK(learn(11min).size() == 1);
    CHECK(learn(12min).empty());

    // A taint that one Node alone keeps may come from its kubelet. Two Nodes prove more.
    claims.pop_back();
    REQUIRE(learn(13min).size() == 1);
    CHECK(pool.status.undeclaredTaints[0].nextRetryTime == objects::at(23min));
    CHECK(learn(15min)[0].nextRetryTime == objects::at(23min));
    const auto known = pool.status.undeclaredTaints;
    add(8, true);
    CHECK_FALSE(learn(16min)[0].nextRetryTime);
    claims.pop_back();
    pool.status.undeclaredTaints = known;
    claims.clear();
    REQUIRE(learn(14min).size() == 1);
    CHECK(pool.status.undeclaredTaints[0].nextRetryTime == objects::at(23min));
    CHECK(is_expected(pool.status.undeclaredTaints[0], objects::at(22min)));
    CHECK_FALSE(is_expected(pool.status.undeclaredTaints[0], objects::at(23min)));
    add(25, true);
    CHECK(learn(31min)[0].count == 2);
    claims.clear();
    CHECK(learn(32min)[0].nextRetryTime == objects::at(51min));
    pool.spec.machineTemplate.startupTaints = {kAgent};
    CHECK(learn(33min).empty());
}

TEST_CASE("the programs that are known for a taint are named") {
    CHECK(known_owner_of_taint("node.cilium.io/agent-not-ready") == "the agent of Cilium");
    CHECK(known_owner_of_taint("readiness.k8s.io/storage") == "the node readiness controller");
    CHECK(known_owner_of_taint("hf.csi.example/agent-not-ready") == "a CSI driver or network agent");
    CHECK(known_owner_of_taint("dedicated").empty());
    CHECK_THAT(
        claim::undeclared_text({{"node.cilium.io/agent-not-ready", "", "NoExecute", std::nullopt}}, "p"),
        Contains("known from the agent of Cilium"));
}

namespace {

using World = test::DisruptionWorld;

enum class Moment { at_registration, seconds_later, when_ready };

// AgentWorld has an agent that keeps its taint on each new Node for a while.
class AgentWorld {
public:
    AgentWorld(Moment moment, std::chrono::seconds keeps) : moment_(moment), keeps_(keeps) {
        world.edit_pool([](auto& pool) {
            pool.spec.scaleDown.emptyGracePeriod = 3s;
            pool.spec.machineTemplate.sizes = {{"m", 4, 8192}};
        });
        for (const auto* name : {"web-1", "web-2", "web-3"}) {
            world.replicas[name] = "1";
            world.put_replica(name);
        }
    }
    void live(std::chrono::seconds duration) {
        for (auto end = world.clock.now() + duration; world.clock.now() < end;) {
            world.live(1s);
            for (const auto& node : world.server.list<api::Node>()) look_at(node);
            for (const auto& claim : world.claims()) made.insert(claim.metadata.name);
        }
    }
    std::size_t running() {
        std::size_t count = 0;
        for (const auto& pod : world.server.list<api::Pod>()) count += !pod.spec.nodeName.empty();
        return count;
    }

    World world{{}, World::Launching::on};
    std::set<std::string> made;

private:
    void look_at(const api::Node& node) {
        const auto& name = node.metadata.name;
        const auto since = seen_.try_emplace(name, world.clock.now()).first->second;
        const auto age = world.clock.now() - since;
        const bool has_claim = node.metadata.labels->contains(std::string(api::labels::kClaim));
        const bool is_due =
            moment_ == Moment::at_registration || (moment_ == Moment::seconds_later ? age >= 3s : has_claim);
        const bool has_it = api::find_taint(node.spec.taints, kAgent.key, kAgent.effect);
        if (is_due && age < keeps_ && !has_it) {
            world.server.edit<api::Node>({"", name},
                                         [](auto& edited) { edited.spec.taints.push_back(kAgent); });
        } else if (age >= keeps_ && has_it) {
            world.server.edit<api::Node>({"", name}, [](auto& edited) {
                std::erase_if(edited.spec.taints, [](const auto& t) { return api::same_taint(t, kAgent); });
            });
        }
    }

    Moment moment_;
    std::chrono::seconds keeps_;
    std::map<std::string, base::TimePoint> seen_;
};

}  // namespace

TEST_CASE("pods whose new node has an undeclared taint for a while get no other machine") {
    for (const auto moment : {Moment::at_registration, Moment::seconds_later, Moment::when_ready}) {
        AgentWorld scene(moment, 40s);
        scene.live(3min);
        CHECK(scene.made.size() == 1);
        CHECK(scene.running() == 3);
        CHECK(scene.world.events.count("PredictionFailed") == 0);
        CHECK(scene.world.events.count("Disrupting") == 0);
    }
}

TEST_CASE("an undeclared taint that stays is remembered by the pool, and its pods are told why they wait") {
    AgentWorld scene(Moment::at_registration, 100h);
    scene.live(4min + 30s);
    CHECK(scene.made.size() == 1);
    CHECK(scene.world.events.count("Disrupting") == 0);
    scene.live(5min);
    const auto pool = scene.world.pool();
    CHECK(scene.made.size() == 1);
    const auto* condition = api::find_condition(pool.status.conditions, api::conditions::kUndeclaredTaints);
    REQUIRE(condition);
    CHECK_THAT(condition->message, Contains(kAgent.key));
    CHECK(scene.world.events.count("UndeclaredTaints") == 1);
    CHECK(scene.world.events.count("NoNodeForPod") > 0);
    // The empty node is removed, and one machine at a time shows whether the taint still exists.
    scene.live(2h);
    CHECK(scene.made.size() >= 2);
    CHECK(scene.made.size() <= 6);
    scene.world.edit_pool([](auto& edited) { edited.spec.machineTemplate.startupTaints = {kAgent}; });
    scene.live(10s);
    CHECK(scene.world.pool().status.undeclaredTaints.empty());
}

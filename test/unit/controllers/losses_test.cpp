// Tests Nodes, machines and claims that others remove.
#include "controllers/state/losses.hpp"

#include "controllers/claim/act/deletion_hints.hpp"
#include "controllers/state/pool_status.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/disruption_world.hpp"

using namespace controllers;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

struct Taken {
    objects::NodeSmithPool pool = objects::pool("small");
    objects::NodeSmithControlPlane manager = objects::control_plane("main", {"*"});
    objects::NodeSmithProvider provider = objects::provider("proxmox");
    std::vector<objects::NodeSmithClaim> claims;

    objects::NodeSmithClaim& launch() {
        const auto sequence = pool.status.nextClaimSequence++;
        const auto name = "c" + std::to_string(sequence);
        claims.push_back(objects::in_service(objects::created_claim(name, pool, sequence)));
        return claims.back();
    }
    void take(objects::NodeSmithClaim& claim, std::string_view reason = api::reasons::kNodeDeleted) {
        objects::set_condition(claim.status.conditions, api::conditions::kDisrupted,
                               api::ConditionStatus::True, objects::kStart, std::string(reason));
    }
    api::v1alpha1::PoolStatus look(std::chrono::seconds now) {
        const Nodes none;
        PoolObservation facts{pool, objects::pointers(claims), none};
        facts.manager = &manager;
        facts.provider = &provider;
        pool.status = next_status(facts, objects::at(now));
        return pool.status;
    }
    std::chrono::seconds pause(std::chrono::seconds now) {
        const auto status = look(now);
        return status.losses->nextRetryTime->at - objects::at(now).at;
    }
    const api::Condition* condition(std::string_view type) const {
        return api::find_condition(pool.status.conditions, type);
    }
};

}  // namespace

TEST_CASE("after a Node that somebody deleted the pool pauses for as long as after a claim that failed") {
    Taken world;
    world.take(world.launch());
    CHECK(world.pause(0s) == 10s);
    const auto* available = world.condition("Available");
    CHECK(available->status == api::ConditionStatus::False);
    CHECK(available->reason == "BackingOff");
    CHECK(world.condition("Progressing")->reason == "BackingOff");
    REQUIRE(world.condition("TakenAway"));
    CHECK(world.condition("TakenAway")->reason == "NodeDeleted");
    CHECK_THAT(world.condition("TakenAway")->message,
               Contains("someone other than the operator removed a Node object of the pool since"));
    world.look(11s);
    CHECK(world.condition("Available")->status == api::ConditionStatus::True);
    CHECK(world.condition("TakenAway"));
}

TEST_CASE("a loss is counted once, however often it is looked at") {
    Taken world;
    world.take(world.launch());
    world.look(0s);
    const auto once = world.pool.status.losses;
    world.look(30s);
    CHECK(world.pool.status.losses == once);
}

TEST_CASE("a replacement that is taken away too doubles the pause, up to the longest") {
    Taken world;
    std::chrono::seconds now{0};
    for (const auto expected : {10s, 20s, 40s, 80s, 160s, 320s, 640s, 1280s, 1800s, 1800s}) {
        world.take(world.launch());
        CHECK(world.pause(now) == expected);
        world.claims.clear();
        now += expected + 5s;
    }
    CHECK(world.pool.status.losses->count == 10);
    CHECK(world.pool.status.losses->rounds == 10);
}

TEST_CASE("nodes that were there before are lost once each, and do not make the pause grow") {
    Taken world;
    for (int i = 0; i < 4; ++i) world.launch();
    world.take(world.claims[0]);
    CHECK(world.pause(0s) == 10s);
    for (std::size_t i = 1; i < 4; ++i) {
        world.take(world.claims[i]);
        world.look(std::chrono::seconds{60 * i});
    }
    CHECK(world.pool.status.losses->count == 4);
    CHECK(world.pool.status.losses->rounds == 1);
    CHECK(world.pool.status.losses->nextRetryTime == objects::at(10s));
}

TEST_CASE("an hour without a loss ends the series, also if the claim of the last one cannot end") {
    Taken world;
    world.take(world.launch());
    world.look(0s);
    world.look(1h + 9s);
    CHECK(world.condition("TakenAway"));
    world.look(1h + 10s);
    CHECK_FALSE(world.condition("TakenAway"));
    world.look(3h);
    CHECK_FALSE(world.condition("TakenAway"));
    world.claims.clear();
    world.look(3h);
    CHECK_FALSE(world.pool.status.losses);
}

TEST_CASE("machines that vanish and claims that others delete count like Nodes") {
    Taken world;
    world.take(world.launch(), api::reasons::kMachineVanished);
    world.look(0s);
    CHECK(world.condition("TakenAway")->reason == "MachineVanished");
    CHECK_THAT(world.condition("TakenAway")->message, Contains("the task log of its host"));
    world.claims.clear();
    world.launch().metadata.deletionTimestamp = objects::at(20s);
    CHECK(world.pause(20s) == 20s);
    CHECK(world.condition("TakenAway")->reason == "ClaimDeleted");
}

TEST_CASE("what the operator itself removes, and what a deleted pool takes along, is no loss") {
    Taken world;
    auto& empty = world.launch();
    world.take(empty, api::reasons::kEmpty);
    empty.metadata.deletionTimestamp = objects::kStart;
    CHECK_FALSE(world.look(0s).losses);
    auto& failed = world.launch();
    objects::set_condition(failed.status.conditions, api::conditions::kFailed, api::ConditionStatus::True);
    failed.metadata.deletionTimestamp = objects::kStart;
    CHECK_FALSE(world.look(0s).losses);
    world.pool.metadata.deletionTimestamp = objects::kStart;
    world.launch().metadata.deletionTimestamp = objects::kStart;
    CHECK_FALSE(world.look(0s).losses);
}

TEST_CASE("a wrong clock does not make the pool wait for ever") {
    Taken world;
    world.take(world.launch());
    world.look(100h);
    CHECK(world.pause(0s) == 10s);
}

TEST_CASE("after a replacement was taken away, too, machines come one at a time until one has stayed") {
    Taken world;
    world.take(world.launch());
    world.look(0s);
    CHECK_FALSE(probe_of(world.pool, objects::pointers(world.claims), objects::at(0s)).is_needed);
    world.take(world.launch());
    world.look(20s);
    const auto probe = [&](std::chrono::seconds now) {
        return probe_of(world.pool, objects::pointers(world.claims), objects::at(now));
    };
    CHECK(probe(60s).is_needed);
    CHECK(probe(60s).claim.empty());
    auto& next = world.launch();
    for (auto& condition : next.status.conditions) condition.lastTransitionTime = objects::at(70s);
    CHECK(probe(80s).claim == next.metadata.name);
    CHECK(probe(80s).proven_at == objects::at(70s + 2min));
    world.look(90s);
    REQUIRE(world.condition("Available"));
    CHECK(world.condition("Available")->reason == "OneAtATime");
    CHECK_THAT(world.condition("Available")->message, Contains("claim " + next.metadata.name));
    world.look(70s + 2min);
    CHECK(world.condition("Available")->reason == "Available");
    CHECK_FALSE(probe(70s + 2min).is_needed);
}

TEST_CASE("a claim whose failed machine waits for a person holds up no other machine") {
    Taken world;
    for (const auto when : {0s, 20s}) {
        world.take(world.launch());
        world.look(when);
    }
    auto& next = world.launch();
    const auto probe = [&] {
        return probe_of(world.pool, objects::pointers(world.claims), objects::at(80s));
    };
    REQUIRE(probe().claim == next.metadata.name);
    auto& all = next.status.conditions;
    objects::set_condition(all, "MachineDeleted", api::ConditionStatus::False);
    for (auto& condition : all)
        if (condition.type == "MachineDeleted") condition.reason = "OwnershipMismatch";
    CHECK(probe().is_needed);
    CHECK(probe().claim.empty());
}

TEST_CASE("a Node that was deleted had traces of those who wrote to it") {
    auto node = objects::node("n");
    CHECK(claim::last_traces(node).empty());
    node.spec.taints = {{std::string(api::taints::kUninitialized), "true", "NoSchedule", std::nullopt}};
    CHECK_THAT(claim::last_traces(node), Contains("node.cloudprovider.kubernetes.io/uninitialized"));
}

TEST_CASE("where something deletes each new Node, fewer and fewer machines are made") {
    using World = test::DisruptionWorld;
    World world({}, World::Launching::on);
    api::Event event;
    event.metadata.namespace_ = "default";
    event.involvedObject.kind = "Node";
    event.reason = "DeletingNode";
    // A kubelet may write such an Event, too, with any text.
    event.message = "Deleting node because it does not exist in the cloud provider\n\x1b[31mrun this";
    event.source.component = "cloud-node-lifecycle-controller";
    world.edit_pool([](auto& pool) { pool.spec.limits.minNodes = 1; });
    std::set<std::string> made;
    const auto live_with_deleter = [&](std::chrono::seconds duration) {
        for (auto end = world.clock.now() + duration; world.clock.now() < end;) {
            world.live(1s);
            for (const auto& claim : world.claims()) {
                made.insert(claim.metadata.name);
                const bool is_ready = api::is_true(claim.status.conditions, api::conditions::kReady);
                if (!is_ready || !world.server.get<api::Node>({"", claim.status.nodeName})) continue;
                event.metadata.name = event.involvedObject.name = claim.status.nodeName;
                world.server.put(event);
                world.server.remove<api::Node>({"", claim.status.nodeName});
            }
        }
    };
    world.server.put(objects::node("control-plane"));
    const auto managers = boost::json::parse(R"({"metadata": {"managedFields": [
        {"manager": "kubelet"}, {"manager": "lifecycle-manager"}, {"manager": "kubectl-label"}]}})");
    world.server.patch<api::Node>({"", "control-plane"}, managers.as_object());
    live_with_deleter(240s);
    CHECK(made.size() >= 3);
    CHECK(made.size() <= 6);
    const auto first = made.size();
    live_with_deleter(1h);
    CHECK(made.size() <= first + 6);
    const auto pool = world.pool();
    const auto* taken = api::find_condition(pool.status.conditions, api::conditions::kTakenAway);
    REQUIRE(taken);
    CHECK_THAT(taken->message, Contains("Event DeletingNode of cloud-node-lifecycle-controller"));
    CHECK_THAT(taken->message, Contains("in the cloud provider; "));
    CHECK_THAT(taken->message, Contains("Node control-plane shows: lifecycle-manager; "));
    CHECK_THAT(taken->message, Contains("audit log"));
    CHECK(world.events.count("TakenAway") > 0);
    // The deletions end now. The pool has its node again, and drops the condition after an hour.
    world.live(3h, 10s);
    CHECK(world.pool().status.readyNodes == 1);
    CHECK_FALSE(api::find_condition(world.pool().status.conditions, api::conditions::kTakenAway));
}

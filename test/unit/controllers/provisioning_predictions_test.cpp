// Tests the memory of launches that did not help.
#include <set>

#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/provisioning/past_launches.hpp"
#include "controllers/provisioning/predictions.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

using namespace controllers;
using namespace controllers::provisioning;
using namespace std::chrono_literals;

namespace {

struct PredictionWorld {
    objects::NodeSmithPool pool = objects::pool("small");
    std::vector<objects::NodeSmithClaim> claims;

    std::string kind;
    std::set<std::string> placed;

    Predictions judge_at(std::chrono::seconds now, std::set<std::string> waiting = {"pod-1"}) {
        std::vector<ContradictedPod> contradicted;
        contradicted.reserve(waiting.size());
        for (const auto& uid : waiting) contradicted.push_back({uid, "default/" + uid, kind});
        const auto pools = objects::store_of<objects::NodeSmithPool>({pool});
        auto result =
            judge(pool, objects::pointers(claims), contradicted, waiting, placed, pools, objects::at(now));
        pool.status.mispredictions = result.list;
        return result;
    }
    void launch(std::chrono::seconds created, std::chrono::seconds initialized) {
        auto claim = objects::created_claim("c" + std::to_string(claims.size()), pool, 1);
        claim.metadata.creationTimestamp = objects::at(created);
        claim.metadata.annotations[std::string(api::annotations::kLaunchedFor)] = "pod-0,pod-1";
        claims.push_back(objects::in_service(claim, objects::at(initialized)));
    }
    PodHistory pod_history(const std::string& uid = "pod-1") const {
        return history_of(uid, kind, objects::store_of<objects::NodeSmithPool>({pool}));
    }
};

}  // namespace

TEST_CASE(
    "a pod that still waits a minute after its node is in service was predicted wrongly, once per launch") {
    PredictionWorld world;
    CHECK(world.judge_at(0s).added.empty());  // no machine was launched for it
    world.launch(0s, 30s);
    const auto early = world.judge_at(80s);
    CHECK(early.added.empty());
    CHECK(early.judge_at == objects::at(90s));
    CHECK(world.judge_at(90s).added.size() == 1);
    CHECK(world.pod_history().wrong == 1);
    CHECK(world.pod_history().retry_at == objects::at(690s));
    CHECK(world.judge_at(95s).added.empty());
    CHECK(world.judge_at(2000s).added.empty());

    world.launch(700s, 730s);
    CHECK(world.judge_at(790s).added.size() == 1);
    CHECK(world.pod_history().wrong == 2);
    CHECK(world.pod_history().retry_at == objects::at(790s + 20min));
}

TEST_CASE("what was learned of a pod is forgotten when it waits no more") {
    PredictionWorld world;
    world.launch(0s, 0s);
    world.judge_at(60s);
    REQUIRE(world.pod_history().wrong == 1);
    CHECK(world.judge_at(61s, {"pod-2"}).list.empty());
}

TEST_CASE("what was learned of a pod that is gone holds for its kind until an hour after the pause") {
    PredictionWorld world;
    world.kind = "web";
    world.launch(0s, 0s);
    world.judge_at(60s);
    REQUIRE(world.pod_history().wrong == 1);
    CHECK_FALSE(world.pod_history().is_of_kind);
    world.judge_at(61s, {});
    CHECK(world.pod_history("another").wrong == 1);
    CHECK(world.pod_history("another").retry_at == objects::at(660s));
    CHECK(world.pod_history("another").is_of_kind);
    CHECK(world.pod_history("another").pod == "default/pod-1");
    CHECK(world.judge_at(660s + 1h - 1s, {}).list.size() == 1);
    CHECK(world.judge_at(660s + 1h, {}).list.empty());
}

TEST_CASE("what was learned of a pod that runs after all is forgotten for its kind too") {
    PredictionWorld world;
    world.kind = "web";
    world.launch(0s, 0s);
    world.judge_at(60s);
    world.placed = {"pod-1"};
    CHECK(world.judge_at(61s, {}).list.empty());
}

TEST_CASE("the pause grows over the pods of a kind") {
    PredictionWorld world;
    world.kind = "web";
    world.launch(0s, 0s);
    REQUIRE(world.judge_at(60s).added.size() == 1);
    world.launch(700s, 730s);
    world.claims.back().metadata.annotations[std::string(api::annotations::kLaunchedFor)] = "pod-7";
    const auto second = world.judge_at(790s, {"pod-7"});
    REQUIRE(second.added.size() == 1);
    CHECK(second.added[0].count == 2);
    CHECK(second.added[0].nextRetryTime == objects::at(790s + 20min));
    CHECK(second.list.size() == 1);  // the pod that is gone needs no entry
}

TEST_CASE("a machine that is removed again was launched without effect for the pods that still wait") {
    PredictionWorld world;
    world.launch(0s, 30s);
    auto& claim = world.claims.front();
    const auto leaves = [&](std::string_view reason) {
        controllers::claim::set(claim.status, api::conditions::kDisrupted, api::ConditionStatus::True, reason,
                                "", objects::at(60s));
        return pods_of_leaving_claims(objects::pointers(world.claims));
    };
    CHECK(pods_of_leaving_claims(objects::pointers(world.claims)).empty());
    CHECK(leaves(api::reasons::kUnhealthy) == std::set<std::string>{"pod-0", "pod-1"});
    // Pods get a machine again that people removed.
    CHECK(leaves(api::reasons::kNodeDeleted).empty());
    CHECK(leaves(api::reasons::kMachineVanished).empty());
}

TEST_CASE("launches of the last hour are counted by pod") {
    PredictionWorld world;
    world.launch(0s, 10s);
    world.launch(1800s, 1900s);
    const auto pointers = objects::pointers(world.claims);
    const auto count = [&](std::chrono::seconds now) {
        const auto pools = objects::store_of<objects::NodeSmithPool>({world.pool});
        const auto launches = launches_last_hour(pointers, pools, objects::at(now));
        return launches.contains("pod-1") ? launches.at("pod-1") : 0;
    };
    CHECK(count(3600s) == 2);
    CHECK(count(3601s) == 1);
    CHECK(count(9000s) == 0);
    const auto note = [](const std::string& claim, std::chrono::seconds when) {
        return R"({"claim":")" + claim + R"(","time":")" + objects::at(when).str() + R"(","pods":["pod-1"]})";
    };
    auto& past = world.pool.metadata.annotations[std::string(kPastLaunches)];
    past = "[" + note("gone", 900s) + "]";
    CHECK(count(3600s) == 3);
    CHECK(count(4501s) == 1);
    // A claim that still exists counts once.
    past = "[" + note("gone", 900s) + "," + note(pointers.back()->metadata.uid, 1800s) + "]";
    CHECK(count(3600s) == 3);
    past = "[" + note("gone", 900s) + ",{}]";
    CHECK(count(3600s) == 2);
}

// Tests the creation of claims that a quota, a policy or a webhook refuses, for one pool or one size.
#include "controllers/services/claim_refusals.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/provisioning_world.hpp"

using namespace std::chrono_literals;
using World = test::ProvisioningWorld;

namespace {

constexpr auto kWords = "exceeded quota: objects, used: 2, limited: 2";

bool is_creation(const base::HttpRequest& request) {
    return request.method == "POST" && request.target.find("/nodesmithclaims") != std::string::npos;
}

// Refusal refuses the creation of claims whose text holds all of the given parts.
struct Refusal {
    std::vector<std::string> of;
    int code = 403;
    std::string message = kWords;
    bool is_in_force = true;
    int tries = 0;

    std::optional<base::HttpResponse> operator()(const base::HttpRequest& request) {
        if (!is_in_force || !is_creation(request)) return std::nullopt;
        for (const auto& part : of)
            if (request.body.find(part) == std::string::npos) return std::nullopt;
        ++tries;
        return fake::status_response(code, "Forbidden", message);
    }
};

// TwoPools has two pools, each with its own pods. The creation is refused for "a" or "z".
struct TwoPools : World {
    Refusal refusal;

    explicit TwoPools(const std::string& refused) : World(pool_for_team(refused)) {
        server.put(pool_for_team("good"));
        refusal.of = {"\"poolRef\":\"" + refused + "\""};
        requests.answer = [this](const base::HttpRequest& request) { return refusal(request); };
        run_for(2s);
    }
    static objects::NodeSmithPool pool_for_team(const std::string& name) {
        auto pool = objects::pool(name);
        pool.spec.machineTemplate.sizes = {{"medium", 2, 4096}};
        pool.spec.machineTemplate.labels["team"] = name;
        return pool;
    }
    void put_pod_of(const std::string& team) {
        put_pending(test::a_pod(team + "-pod").requesting("1500m", "1Gi").select("team", team));
    }
    // Makes the webhook wait before it refuses.
    void hang(std::chrono::seconds time = 30s) {
        refusal.code = 500;
        refusal.message =
            "Internal error occurred: failed calling webhook \"claims.example\": context deadline exceeded";
        requests.slowness = [this, time](const base::HttpRequest& request) {
            const bool is_its = is_creation(request) && request.body.find(refusal.of[0]) != std::string::npos;
            return is_its ? base::Duration(time) : base::Duration::zero();
        };
    }
    std::string available(const std::string& pool_name) {
        const auto found = pool(pool_name);
        const auto* condition = api::find_condition(found.status.conditions, "Available");
        return condition ? condition->reason + ": " + condition->message : "";
    }
};

}  // namespace

TEST_CASE("a pool whose claims are refused keeps no other pool from its machines") {
    for (const std::string refused : {"a", "z"}) {
        for (const auto pause : {0s, 1s, 2s, 5s, 14s, 40s}) {
            INFO("pool " << refused << ", the other pod comes after " << pause.count() << " s");
            TwoPools world(refused);
            world.put_pod_of(refused);
            world.run_for(pause);
            world.put_pod_of("good");
            world.run_for(4s);
            CHECK(world.claims("good").size() == 1);
            CHECK(world.claims(refused).empty());
        }
    }
}

TEST_CASE("a webhook that hangs for the claims of one pool keeps no other pool from its machines") {
    for (const std::string refused : {"a", "z"}) {
        for (const auto pause : {0s, 1s, 3s, 20s, 31s, 45s, 70s, 100s, 130s}) {
            INFO("pool " << refused << ", the other pod comes after " << pause.count() << " s");
            TwoPools world(refused);
            world.hang();
            world.put_pod_of(refused);
            world.run_for(pause);
            world.put_pod_of("good");
            world.run_for(5s);
            CHECK(world.claims("good").size() == 1);
            CHECK(world.claims(refused).empty());
        }
    }
}

TEST_CASE("a webhook that does not answer in time is named, and its pool is not offered") {
    TwoPools world("a");
    world.hang(60s);
    world.put_pod_of("a");
    world.run_for(90s);
    CHECK_THAT(world.available("a"),
               Catch::StartsWith("ClaimsRefused: ") && Catch::Contains("an admission webhook may hang"));
    const auto tries = world.refusal.tries;
    world.run_for(10min);
    CHECK(world.refusal.tries <= tries + 10);
    world.requests.slowness = nullptr;
    world.refusal.is_in_force = false;
    world.run_for(3min);
    CHECK(world.claims("a").size() == 1);
    CHECK_THAT(world.available("a"), !Catch::Contains("ClaimsRefused"));
}

TEST_CASE("a pool whose status cannot be written in time keeps no other pool from its machines") {
    TwoPools world("a");
    world.refusal.is_in_force = false;
    world.requests.slowness = [](const base::HttpRequest& request) {
        const bool is_its =
            request.method == "PATCH" && request.target.find("/nodesmithpools/a/status") != std::string::npos;
        return is_its ? base::Duration(60s) : base::Duration::zero();
    };
    world.put_pod_of("a");
    world.run_for(35s);
    world.put_pod_of("good");
    world.run_for(40s);
    CHECK(world.claims("good").size() == 1);
    CHECK(world.events.count("an admission webhook may hang") >= 1);
}

TEST_CASE("several pools whose status cannot be written in time cost a decision the time of one write") {
    TwoPools world("a");
    world.refusal.is_in_force = false;
    const std::vector<std::string> late{"late-1", "late-2", "late-3", "late-4"};
    for (const auto& name : late) world.server.put(TwoPools::pool_for_team(name));
    world.run_for(2s);
    world.requests.slowness = [](const base::HttpRequest& request) {
        const bool is_its =
            request.method == "PATCH" && request.target.find("/nodesmithpools/late-") != std::string::npos;
        return is_its ? base::Duration(60s) : base::Duration::zero();
    };
    for (const auto& name : late) world.put_pod_of(name);
    world.run_for(5min);
    world.put_pod_of("good");
    world.run_for(70s);
    CHECK(world.claims("good").size() == 1);
}

TEST_CASE("a pod whose claim is under way gets no second one, and one of another pool once it is refused") {
    TwoPools world("a");
    world.hang();
    world.server.edit<objects::NodeSmithPool>({"default", "a"}, [](auto& pool) { pool.spec.weight = 10; });
    world.run_for(2s);
    world.put_pending_pod("anywhere", "1500m");
    world.run_for(25s);
    CHECK(world.claims("good").empty());
    // A pod that arrives meanwhile does not wait for that claim.
    world.put_pod_of("good");
    world.run_for(4s);
    CHECK(world.claims("good").size() == 1);
    world.run_for(10s);
    CHECK(world.claims("good").size() == 2);
    world.run_for(10min);
    CHECK(world.claims("good").size() == 2);
    CHECK(world.claims("a").empty());
}

TEST_CASE("claims that are under way count against the rate") {
    TwoPools world("a");
    world.hang(15s);
    world.refusal.is_in_force = false;  // the webhook is slow and refuses nothing
    world.server.edit<objects::NodeSmithControlPlane>(
        {"default", "main"}, [](auto& plane) { plane.spec.rateLimits.maxCreationsPerHour = 1; });
    world.run_for(2s);
    world.put_pod_of("a");
    world.run_for(10s);
    world.put_pod_of("good");
    world.run_for(1min);
    CHECK(world.claims("a").size() == 1);
    CHECK(world.claims("good").empty());
}

TEST_CASE(
    "a refusal is said in its own words by the pool and to its pods, and its reservation is given back") {
    TwoPools world("a");
    world.put_pod_of("a");
    world.run_for(15s);
    CHECK(world.available("a").starts_with("ClaimsRefused: "));
    CHECK(world.available("a").find(kWords) != std::string::npos);
    CHECK(world.available("good").starts_with("Available: "));
    CHECK(world.events.count("Pod a-pod NoNodeForPod") > 0);
    CHECK(world.events.count(kWords) >= 2);
    CHECK(world.pool("a").status.reserved.nodes == 0);
}

TEST_CASE("refused claims are asked for with growing pauses, but once a minute as long as pods wait") {
    TwoPools world("a");
    world.put_pod_of("a");
    world.run_for(40s);
    CHECK(world.refusal.tries <= 6);
    world.run_for(20min);
    const auto before = world.refusal.tries;
    world.run_for(10min);
    CHECK(world.refusal.tries - before >= 9);
    CHECK(world.refusal.tries - before <= 11);
    world.refusal.is_in_force = false;
    world.run_for(65s);
    CHECK(world.claims("a").size() == 1);
    CHECK(world.available("a").starts_with("Available: "));
}

TEST_CASE("a pool that was changed is asked for at once") {
    TwoPools world("a");
    world.put_pod_of("a");
    world.run_for(10min);
    world.refusal.is_in_force = false;
    world.server.edit<objects::NodeSmithPool>({"default", "a"}, [](auto& pool) { pool.spec.weight = 7; });
    world.run_for(4s);
    CHECK(world.claims("a").size() == 1);
}

TEST_CASE("a webhook that is down refuses as well, and other failures of the API server do not") {
    kube::ApiError down("", 500, "InternalError",
                        "Internal error occurred: failed calling webhook \"claims.example.com\": EOF");
    kube::ApiError denied("", 400, "BadRequest", "admission webhook \"x\" denied the request: no");
    kube::ApiError broken("", 500, "InternalError", "etcdserver: request timed out");
    kube::ApiError busy("", 429, "TooManyRequests", "too many requests");
    kube::ApiError overtaken("", 409, "Conflict", "the object has been modified");
    CHECK(controllers::is_refusal(down));
    CHECK(controllers::is_refusal(denied));
    CHECK_FALSE(controllers::is_refusal(broken));
    CHECK_FALSE(controllers::is_refusal(busy));
    CHECK_FALSE(controllers::is_refusal(overtaken));
}

TEST_CASE("one size that a policy refuses does not keep an allowed size of the pool from its machines") {
    auto pool = World::fixed_size_pool();
    pool.spec.machineTemplate.sizes = {{"small", 2, 8192}, {"large", 4, 16384}};
    for (const bool small_comes_later : {false, true}) {
        World world(pool);
        Refusal policy{{"\"cpuCores\":4"}, 422, "machines of 4 cores are closed by the platform team"};
        world.requests.answer = [&](const base::HttpRequest& request) { return policy(request); };
        world.put_pending_pod("big-1", "3");
        world.put_pending_pod("big-2", "3");
        if (small_comes_later) world.run_for(20s);
        world.put_pending_pod("little", "1");
        world.run_for(5s);
        CHECK(world.claims().size() == 1);
        world.run_for(35s);
        CHECK(policy.tries <= 16);
        CHECK(world.claims().size() == 1);
        CHECK(
            world.events.count("Pod big-1 NoNodeForPod: no node can be created for the pod: pool small: the "
                               "API server refuses its claims for machines of 4 CPUs and 16384 MiB: " +
                               policy.message) > 0);
        const auto known = world.pool();
        CHECK(api::find_condition(known.status.conditions, "Available")->reason == "ClaimsRefused");
    }
}

TEST_CASE("a reservation that may not be written is a refusal, too") {
    TwoPools world("a");
    world.requests.answer = [](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        const bool is_reservation =
            request.method == "PATCH" && request.target.find("/nodesmithpools/a/status") != std::string::npos;
        if (!is_reservation) return std::nullopt;
        return fake::status_response(403, "Forbidden", "pool a is frozen");
    };
    world.put_pod_of("a");
    world.run_for(5s);
    world.put_pod_of("good");
    world.run_for(4s);
    CHECK(world.claims("good").size() == 1);
    CHECK(world.events.count("pool a is frozen") > 0);
}

TEST_CASE("one claim that cannot be withdrawn keeps no other, and wrong predictions are noted all the same") {
    World world(World::fixed_size_pool());
    world.put_pending_pods(3);
    world.run_for(5s);
    REQUIRE(world.claims().size() == 3);
    for (const auto& claim : world.claims())
        world.server.edit<objects::NodeSmithClaim>(api::key_of(claim), [](auto& found) {
            api::ConditionUpdate lacks;
            lacks.type = "Launched";
            lacks.status = api::ConditionStatus::False;
            lacks.reason = "InsufficientCapacity";
            api::set_condition(found.status.conditions, lacks, objects::kStart);
        });
    const auto protected_claim = world.claims().front().metadata.name;
    world.requests.answer = [&](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        if (request.method != "DELETE" || request.target.find(protected_claim) == std::string::npos)
            return std::nullopt;
        return fake::status_response(403, "Forbidden", "may not be deleted");
    };
    for (int i = 0; i < 3; ++i) world.server.remove<api::Pod>({"default", "pod-" + std::to_string(i)});
    world.run_for(30s);
    world.finish_deletions();
    world.run_for(5s);
    CHECK(world.claims().size() == 1);
}

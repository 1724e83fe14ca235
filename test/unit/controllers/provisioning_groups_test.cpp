// Tests that no machine is launched for a part of a PodGroup.
#include "controllers/provisioning/pod_groups.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json/parse.hpp>

#include "test/support/catch.hpp"
#include "test/unit/controllers/provisioning_world.hpp"

using namespace std::chrono_literals;
using controllers::pod_group_of;
using objects::NodeSmithPool;
using World = test::ProvisioningWorld;

namespace {

// Returns a pool with this many machines, each with room for one member of a group.
NodeSmithPool pool_of(std::int64_t machines) {
    auto pool = World::fixed_size_pool();
    pool.spec.limits.maxNodes = machines;
    return pool;
}

void put_members(World& world, const std::string& group, int count) {
    for (int i = 0; i < count; ++i)
        world.put_pending(test::a_pod(group + "-" + std::to_string(i))
                              .requesting("1500m", "1Gi")
                              .label(std::string(api::labels::kCoschedulingGroup), group));
    world.run_for(30s);
}

// Puts a PodGroup of the scheduler plugin Coscheduling.
void put_group(World& world, const std::string& name, int min_members) {
    const boost::json::value object{{"apiVersion", "scheduling.x-k8s.io/v1alpha1"},
                                    {"kind", "PodGroup"},
                                    {"metadata", {{"name", name}, {"namespace", "default"}}},
                                    {"spec", {{"minMember", min_members}}}};
    boost::asio::co_spawn(
        world.context,
        world.client.call("POST", "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups", object),
        boost::asio::detached);
    world.run_for(1s);
}

}  // namespace

TEST_CASE("a pod names its PodGroup in one of three ways") {
    api::Pod pod;
    pod.metadata.namespace_ = "ml";
    CHECK(pod_group_of(pod).empty());
    pod.metadata.annotations["scheduling.k8s.io/group-name"] = "volcano";
    CHECK(pod_group_of(pod) == "ml/volcano");
    pod.metadata.labels["scheduling.x-k8s.io/pod-group"] = "coscheduling";
    CHECK(pod_group_of(pod) == "ml/coscheduling");
    pod.spec.schedulingGroup.emplace().podGroupName = "native";
    CHECK(pod_group_of(pod) == "ml/native");
}

TEST_CASE("nothing is created for a part of a PodGroup, and each of its pods learns why") {
    World world(pool_of(2));
    put_members(world, "train", 8);
    CHECK(world.claims().empty());
    CHECK(world.events.count(
              "PodGroup default/train starts as a whole, and 6 of its 8 waiting pods cannot get a "
              "machine, so none is created for a part of it") == 8);
    CHECK(world.events.count("limits.maxNodes of pool small: 0 nodes left") == 8);

    world.server.edit<NodeSmithPool>({"default", "small"},
                                     [](NodeSmithPool& pool) { pool.spec.limits.maxNodes = 8; });
    world.run_for(30s);
    CHECK(world.claims().size() == 8);
}

TEST_CASE("of two PodGroups that compete for room, one gets all of it") {
    World world(pool_of(5));
    put_members(world, "first", 4);
    REQUIRE(world.claims().size() == 4);
    put_members(world, "second", 4);
    CHECK(world.claims().size() == 4);

    World both(pool_of(5));
    for (int i = 0; i < 4; ++i)
        for (const std::string group : {"large", "small"})
            if (group == "large" || i < 3)
                both.put_pending(test::a_pod(group + "-" + std::to_string(i))
                                     .requesting("1500m", "1Gi")
                                     .label(std::string(api::labels::kCoschedulingGroup), group));
    both.run_for(30s);
    CHECK((both.claims().size() == 3 || both.claims().size() == 4));
}

TEST_CASE("a PodGroup that can never get all of its room does not stop a smaller one") {
    World world(pool_of(3));
    for (int i = 0; i < 4; ++i)
        for (const std::string group : {"large", "small"})
            if (group == "large" || i < 3)
                world.put_pending(test::a_pod(group + "-" + std::to_string(i))
                                      .requesting("1500m", "1Gi")
                                      .label(std::string(api::labels::kCoschedulingGroup), group));
    world.run_for(30s);
    CHECK(world.claims().size() == 3);
}

TEST_CASE("a limit that only delays launches does not hold a PodGroup") {
    auto pool = pool_of(8);
    pool.spec.scaleUp.batchSize = 1;
    World world(pool);
    put_members(world, "train", 4);
    world.run_for(5min);
    CHECK(world.claims().size() == 4);
}

TEST_CASE("further pods of a PodGroup that has started are ordinary pods") {
    World world(pool_of(1));
    world.server.put<api::Node>(objects::a_node("theirs").label("kubernetes.io/hostname", "theirs"));
    world.put_pending(test::a_pod("train-runs")
                          .requesting("1500m", "1Gi")
                          .label(std::string(api::labels::kCoschedulingGroup), "train"));
    world.bind("train-runs", "theirs");
    put_members(world, "train", 3);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("a PodGroup starts with its minimum of pods, and the others get what is left") {
    World world(pool_of(3));
    put_group(world, "train", 2);
    put_members(world, "train", 4);
    CHECK(world.claims().size() == 3);

    World scarce(pool_of(1));
    put_group(scarce, "train", 2);
    put_members(scarce, "train", 4);
    CHECK(scarce.claims().empty());
    CHECK(
        scarce.events.count("PodGroup default/train starts with 2 pods (its minCount or minMember), and 3 of "
                            "its 4 waiting pods cannot get a machine") == 4);
}

TEST_CASE("a PodGroup that lost pods needs as many as are missing to its minimum") {
    World world(pool_of(1));
    put_group(world, "train", 3);
    world.server.put<api::Node>(objects::a_node("theirs").label("kubernetes.io/hostname", "theirs"));
    world.put_pending(test::a_pod("train-runs")
                          .requesting("1500m", "1Gi")
                          .label(std::string(api::labels::kCoschedulingGroup), "train"));
    world.bind("train-runs", "theirs");
    put_members(world, "train", 2);
    CHECK(world.claims().empty());
    world.server.edit<NodeSmithPool>({"default", "small"},
                                     [](NodeSmithPool& pool) { pool.spec.limits.maxNodes = 2; });
    world.run_for(30s);
    CHECK(world.claims().size() == 2);
}

TEST_CASE("a PodGroup with fewer pods than its minimum gets nothing, and each of its pods learns why") {
    World world(pool_of(8));
    put_group(world, "train", 4);
    put_members(world, "train", 2);
    CHECK(world.claims().empty());
    CHECK(world.events.count("and only 2 of its pods wait") == 2);
}

TEST_CASE("a PodGroup without a gang has ordinary pods") {
    fake::VirtualClock clock;
    controllers::PodGroups groups(clock);
    const auto policy_of = [&](const std::string& version, const std::string& spec) {
        const auto object = boost::json::parse(R"({"kind": "PodGroup", "apiVersion": ")" + version +
                                               R"(", "metadata": {"name": "g"}, "spec": )" + spec + "}");
        CHECK(groups.take(object));
        return groups.policy_of("default/g").min_pods;
    };
    CHECK(policy_of("scheduling.k8s.io/v1beta1", R"({"schedulingPolicy": {"basic": {}}})") == 1);
    CHECK(policy_of("scheduling.k8s.io/v1alpha2", R"({"schedulingPolicy": {"gang": {"minCount": 5}}})") == 5);
    CHECK(policy_of("scheduling.volcano.sh/v1beta1", R"({"minMember": 3})") == 3);
    CHECK_FALSE(policy_of("scheduling.volcano.sh/v1beta1", "{}"));
    CHECK_FALSE(groups.policy_of("default/unknown").min_pods);
}

TEST_CASE("members of a PodGroup that have ended do not count as started") {
    World world(pool_of(2));
    put_group(world, "train", 4);
    world.server.put<api::Node>(objects::a_node("theirs").label("kubernetes.io/hostname", "theirs"));
    for (int i = 0; i < 4; ++i) {
        const auto name = "ended-" + std::to_string(i);
        auto pod = test::a_pod(name)
                       .requesting("100m", "64Mi")
                       .label(std::string(api::labels::kCoschedulingGroup), "train")
                       .on("theirs")
                       .pod;
        pod.status.phase = api::PodPhase::Failed;
        // A snapshot for plan has them, other than the operator's cache.
        world.informers.pods.observe(pod);
    }
    put_members(world, "train", 4);
    CHECK(world.claims().empty());
}

TEST_CASE("members of a PodGroup that the scheduler makes room for count towards its minimum") {
    World world(pool_of(2));
    put_group(world, "train", 4);
    for (int i = 0; i < 2; ++i) {
        const auto node = "theirs-" + std::to_string(i);
        world.server.put<api::Node>(objects::a_node(node).label("kubernetes.io/hostname", node));
        auto victim = test::a_pod("victim-" + std::to_string(i)).requesting("1500m", "1Gi").on(node).pod;
        victim.metadata.deletionTimestamp = api::Time(world.clock.wall_now() + 5min);
        objects::set_condition(*victim.status.conditions, "DisruptionTarget", api::ConditionStatus::True,
                               objects::kStart, "PreemptionByScheduler");
        world.server.put(victim);
        auto pod = test::a_pod("nominated-" + std::to_string(i))
                       .requesting("1500m", "1Gi")
                       .label(std::string(api::labels::kCoschedulingGroup), "train");
        world.put_pending(pod);
        world.server.edit<api::Pod>({"default", "nominated-" + std::to_string(i)},
                                    [&](api::Pod& waiting) { waiting.status.nominatedNodeName = node; });
    }
    put_members(world, "train", 2);
    CHECK(world.claims().size() == 2);
}

TEST_CASE("a PodGroup that cannot be read for a while keeps its minimum") {
    World world(pool_of(1));
    put_group(world, "train", 2);
    world.server.put<api::Node>(objects::a_node("theirs").label("kubernetes.io/hostname", "theirs"));
    world.put_pending(test::a_pod("train-runs")
                          .requesting("1500m", "1Gi")
                          .label(std::string(api::labels::kCoschedulingGroup), "train"));
    put_members(world, "train", 2);
    REQUIRE(world.informers.pod_groups.policy_of("default/train").min_pods == 2);
    const auto answer_groups_with = [&](int status) {
        world.requests.answer =
            [status](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
            if (request.target.find("/podgroups/") == std::string::npos) return std::nullopt;
            base::HttpResponse refusal;
            refusal.status = status;
            return refusal;
        };
        world.run_for(35s);
        world.put_pending_pod("another-" + std::to_string(status), "100");
        world.run_for(5s);
    };
    answer_groups_with(500);
    CHECK(world.informers.pod_groups.policy_of("default/train").min_pods == 2);
    answer_groups_with(429);
    CHECK(world.informers.pod_groups.policy_of("default/train").min_pods == 2);
    // Somebody took the right away, or removed the kind.
    answer_groups_with(403);
    CHECK_FALSE(world.informers.pod_groups.policy_of("default/train").min_pods);
}

TEST_CASE("PodGroups of one namespace keep those of others neither unread nor without a minimum") {
    World world(pool_of(1));
    put_group(world, "train", 2);
    const auto read_with = [&world](std::vector<api::Pod> others) {
        controllers::PodPointers pods;
        for (auto& pod : others) {
            pod.metadata.namespace_ = "a-tenant";
            pods.push_back(std::make_shared<const api::Pod>(std::move(pod)));
        }
        pods.push_back(test::a_pod("train-0").label(std::string(api::labels::kCoschedulingGroup), "train"));
        boost::asio::co_spawn(world.context, world.informers.pod_groups.read(world.client, pods),
                              boost::asio::detached);
        world.run_for(1s);
        return world.informers.pod_groups.policy_of("default/train").min_pods;
    };
    SECTION("a name that the API server refuses") {
        world.requests.answer = [](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
            if (request.target.find("/podgroups/a%25b") == std::string::npos) return std::nullopt;
            return fake::status_response(400, "BadRequest", "name parameter invalid: \"a%b\"");
        };
        auto odd = test::a_pod("odd").pod;
        odd.metadata.annotations[std::string(api::annotations::kVolcanoGroup)] = "a%b";
        CHECK(read_with({odd}) == 2);
    }
    SECTION("many groups") {
        std::vector<api::Pod> many;
        for (int i = 0; i < 700; ++i)
            many.push_back(test::a_pod("p" + std::to_string(i))
                               .label(std::string(api::labels::kCoschedulingGroup), std::to_string(i))
                               .pod);
        CHECK(read_with(many) == 2);
    }
}

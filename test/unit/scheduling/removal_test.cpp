#include "scheduling/removal.hpp"
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::simulate_removal;

namespace {

using Reasons = std::vector<std::string>;

PodBuilder web(const std::string& name, const std::string& cpu = "1") {
    return PodBuilder(name, cpu).owner("ReplicaSet", "r");
}

// Returns two nodes of 4 CPUs in pool small.
scheduling::Snapshot two_nodes() {
    auto cluster = snapshot();
    cluster.nodes = {node("a"), node("b")};
    for (auto& each : cluster.nodes) each.pool = 0;
    return cluster;
}

const std::string kZone(api::labels::kZone);

PodBuilder spread_over_nodes(const std::string& name) {
    auto built = web(name).label("app", "web");
    auto& constraint = built.pod.spec.topologySpreadConstraints->emplace_back();
    constraint.topologyKey = api::labels::kHostname;
    constraint.labelSelector.emplace().matchLabels["app"] = "web";
    return built;
}

}  // namespace

TEST_CASE("a node can go when its pods fit on the others") {
    auto cluster = two_nodes();
    cluster.nodes[0].pods = {web("w"), PodBuilder("agent").owner("DaemonSet", "d")};
    const auto removal = simulate_removal(cluster, {{0}});
    CHECK(removal.possible);
    REQUIRE(removal.moves.size() == 1);
    CHECK(removal.moves[0].pod->metadata.name == "w");
    CHECK(removal.moves[0].node == 1);
    CHECK(removal.replacements.empty());
}

TEST_CASE("a node stays when a pod of its would have no place") {
    auto cluster = two_nodes();
    cluster.pools[0].closed = "is paused";
    cluster.nodes[0].pods = {web("w", "2")};
    cluster.nodes[1].pods = {web("x", "3")};
    const auto removal = simulate_removal(cluster, {{0}, 1});
    CHECK_FALSE(removal.possible);
    CHECK(removal.reasons == Reasons{"pod default/w fits no other node; pool small: is paused"});
}

TEST_CASE("a smaller machine may replace nodes if that is asked for") {
    auto cluster = two_nodes();
    cluster.nodes[0].pods = {web("w")};
    cluster.nodes[1].pods = {web("x")};
    auto removal = simulate_removal(cluster, {{0, 1}, 1});
    CHECK(removal.possible);
    REQUIRE(removal.replacements.size() == 1);
    CHECK(removal.replacements[0].cpu_cores == 2);
    removal = simulate_removal(cluster, {{0, 1}, 0});
    CHECK_FALSE(removal.possible);
    CHECK(removal.reasons == Reasons{"its pods fit nowhere else without a new machine for default/w, "
                                     "default/x (a removal may not create one)"});
}

TEST_CASE("pods are not moved onto nodes that are still coming") {
    auto cluster = two_nodes();
    cluster.nodes[0].pods = {web("w")};
    cluster.nodes[1].availability = scheduling::Availability::coming;
    CHECK_FALSE(simulate_removal(cluster, {{0}}).possible);
}

TEST_CASE("pods that may wait need no launch if a node that is being created has room") {
    auto cluster = two_nodes();
    cluster.pools[0].closed = "is paused";
    cluster.nodes[0].pods = {web("w")};
    cluster.nodes[1].availability = scheduling::Availability::coming;
    scheduling::RemovalRequest request;
    request.nodes = {0};
    request.may_wait = true;
    CHECK(simulate_removal(cluster, request).possible);
    cluster.nodes[1].pods = {web("x", "4")};
    CHECK_FALSE(simulate_removal(cluster, request).possible);
}

TEST_CASE("a machine that is being created for the pods of a leaving node is not launched again") {
    auto cluster = two_nodes();
    cluster.nodes[0].pods = {web("w")};
    cluster.nodes[0].availability = scheduling::Availability::leaving;
    cluster.nodes[1].availability = scheduling::Availability::coming;
    const auto result = scheduling::solve(cluster);
    CHECK(result.claims.empty());
    REQUIRE(result.placements.size() == 1);
    CHECK(result.placements[0].node == 1);
}

TEST_CASE("a pod that waits blocks the removal of the node that it fits on, and of no other") {
    auto cluster = two_nodes();
    cluster.nodes[1].pods = {web("x", "3")};
    cluster.pods = {web("waiting", "4")};
    const auto removal = simulate_removal(cluster, {{0}});
    CHECK(removal.reasons == Reasons{"pod default/waiting is pending and fits on a"});
    cluster.pods = {web("waiting", "5")};
    CHECK(simulate_removal(cluster, {{0}}).possible);
}

TEST_CASE("a pod that moves off another node keeps the node that it fits on, and is not called pending") {
    auto cluster = two_nodes();
    cluster.nodes[1].pods = {web("mover", "1").on("b")};
    cluster.nodes[1].availability = scheduling::Availability::leaving;
    const auto removal = simulate_removal(cluster, {{0}});
    REQUIRE_FALSE(removal.reasons.empty());
    CHECK(removal.reasons.front() == "pod default/mover moves off another node and fits on a");
}

// The machine for a waiting pod must not count as free for pods of a hardly used node. These pods come first
// where machines are launched.
TEST_CASE("a pod that waits is there before those that still run elsewhere, however important they are") {
    auto cluster = two_nodes();
    cluster.nodes[0].pods = {web("w").priority(1000)};
    cluster.pods = {web("waiting", "4")};
    auto removal = simulate_removal(cluster, {{0}});
    CHECK_FALSE(removal.possible);
    CHECK(
        removal.reasons ==
        Reasons{
            "its pods fit nowhere else without a new machine for default/w (a removal may not create one)"});
    removal = simulate_removal(cluster, {{0}, 1});
    REQUIRE(removal.moves.size() == 1);
    CHECK(removal.moves[0].claim == 0);
}

TEST_CASE("of two empty nodes the larger one attracts pods, as more of it stays free") {
    auto cluster = two_nodes();
    cluster.nodes.push_back(node("larger", "16", "32Gi"));
    cluster.nodes[0].pods = {web("w")};
    scheduling::RemovalRequest request{{0}};
    request.emptiest_first = true;
    const auto removal = simulate_removal(cluster, request);
    REQUIRE(removal.moves.size() == 1);
    CHECK(removal.moves[0].node == 2);
}

// Otherwise the scheduler uses the spare node, and another one is launched as a spare.
TEST_CASE("pods may go to a node that is kept empty, though another is emptier") {
    auto cluster = two_nodes();
    cluster.nodes.push_back(node("of no pool"));
    cluster.nodes[0].pods = {web("w")};
    cluster.nodes[1].pods = {PodBuilder("agent", "100m").owner("DaemonSet", "d")};
    scheduling::RemovalRequest request{{0}};
    request.emptiest_first = true;
    CHECK(simulate_removal(cluster, request).possible);
    cluster.pools[0].spare.nodes = 1;
    const auto removal = simulate_removal(cluster, request);
    CHECK_FALSE(removal.possible);
    CHECK(removal.reasons ==
          Reasons{"without it a new machine would be needed to keep 1 node spare (scaleUp.headroom)"});
}

TEST_CASE("minimal nodes and spare room hold nodes") {
    auto cluster = two_nodes();
    cluster.pools[0].min_nodes = 2;
    CHECK_FALSE(simulate_removal(cluster, {{0}}).possible);
    cluster.pools[0].min_nodes = 1;
    CHECK(simulate_removal(cluster, {{0}}).possible);
    cluster.pools[0].spare.cpu_cores = 5;
    CHECK_FALSE(simulate_removal(cluster, {{0}}).possible);
    cluster.pools[0].spare.cpu_cores = 4;
    CHECK(simulate_removal(cluster, {{0}}).possible);
    cluster.pools[0].closed = "is paused";
    cluster.pools[0].spare.cpu_cores = 5;
    CHECK(simulate_removal(cluster, {{0}, 1}).reasons ==
          Reasons{"it is needed for the minimum number of nodes or for spare room, and no other machine can "
                  "be created"});
}

TEST_CASE("what remains keeps the share of headroom free") {
    auto cluster = two_nodes();
    cluster.nodes[0].pods = {web("w")};
    cluster.nodes[1].pods = {web("x", "2")};
    scheduling::RemovalRequest request;
    request.nodes = {0};
    request.headroom_percent = 25;
    CHECK(simulate_removal(cluster, request).possible);
    request.headroom_percent = 26;
    CHECK(simulate_removal(cluster, request).reasons ==
          Reasons{"pool small would drop below its 26 % headroom"});
}

TEST_CASE("a removal that has to need no luck puts pods where most is free, as the kube-scheduler does") {
    auto cluster = two_nodes();
    cluster.nodes.push_back(node("c"));
    cluster.nodes[0].pods = {web("large", "1500m"), web("second", "1"), web("third", "1")};
    cluster.nodes[1].pods = {web("x", "2500m")};
    cluster.nodes[2].pods = {web("y", "2")};
    cluster.pools[0].closed = "is paused";
    scheduling::RemovalRequest request;
    request.nodes = {0};
    CHECK(simulate_removal(cluster, request).possible);
    request.emptiest_first = true;
    CHECK(simulate_removal(cluster, request).reasons ==
          Reasons{"pod default/second fits no other node once the others have moved to the emptiest nodes"});
    cluster.nodes[1].pods = {web("x", "1")};
    CHECK(simulate_removal(cluster, request).possible);
}

// The smaller of two pods may be back first and take the place of the larger one. A machine would then be
// launched for that one.
TEST_CASE("a removal that has to need no luck works whichever of the pods is back first") {
    auto cluster = two_nodes();
    cluster.nodes.push_back(node("c"));
    cluster.nodes[0].pods = {web("large", "3"), web("small", "1")};
    cluster.nodes[1].pods = {web("x", "1")};
    cluster.nodes[2].pods = {web("y", "2")};
    cluster.pools[0].closed = "is paused";
    scheduling::RemovalRequest request{{0}};
    CHECK(simulate_removal(cluster, request).possible);
    request.emptiest_first = true;
    CHECK(simulate_removal(cluster, request).reasons ==
          Reasons{"pod default/large fits no other node once the others have moved to the emptiest nodes"});
    cluster.nodes[1].pods.clear();
    CHECK(simulate_removal(cluster, request).possible);
}

TEST_CASE("machines created instead of a node need no luck either") {
    auto cluster = snapshot();
    cluster.nodes = {node("large", "16")};
    cluster.nodes[0].pool = 0;
    cluster.pools[0].shapes = {{"s", 4, 8192}};
    cluster.pools[0].reserved = {0, 0};
    scheduling::RemovalRequest request{{0}, 2};
    SECTION("each pod finds a place on them, whichever comes first") {
        cluster.nodes[0].pods = {web("a", "3"), web("b", "3"), web("c", "1"), web("d", "1")};
        CHECK(simulate_removal(cluster, request).possible);
        request.emptiest_first = true;
        const auto removal = simulate_removal(cluster, request);
        CHECK(removal.possible);
        CHECK(removal.replacements.size() == 2);
        CHECK(removal.price.machines == 2 * (4 * 4 + 8));
    }
    SECTION("they would hold all, but not if the small ones come first") {
        cluster.nodes[0].pods = {web("a", "2"), web("b", "2"), web("c", "2"), web("d", "1"), web("e", "1")};
        CHECK(simulate_removal(cluster, request).possible);
        request.emptiest_first = true;
        CHECK(simulate_removal(cluster, request).reasons ==
              Reasons{"its pods fit on 2 new machines only if the pods are scheduled in the right order"});
    }
}

TEST_CASE("machines created instead of a node are the cheapest set, and its price is told") {
    auto cluster = snapshot();
    cluster.nodes = {node("large", "16")};
    cluster.nodes[0].pool = 0;
    cluster.pools[0].shapes = {{"s", 2, 4096}, {"l", 8, 32768}};
    cluster.pools[0].reserved = {0, 0};
    for (const auto* name : {"a", "b", "c", "d"}) cluster.nodes[0].pods.push_back(web(name, "1900m"));
    scheduling::RemovalRequest request{{0}, 9};
    CHECK(simulate_removal(cluster, request).replacements.size() == 1);
    request.emptiest_first = true;
    const auto removal = simulate_removal(cluster, request);
    CHECK(removal.possible);
    CHECK(removal.replacements.size() == 4);
    CHECK(removal.price.machines == 4 * (2 * 4 + 4));
}

// Otherwise evicted pods wait for the end of their node, while their budget keeps the others there.
TEST_CASE("a node that is being emptied is still a domain to spread over, until it is gone") {
    auto cluster = snapshot();
    cluster.nodes = {node("a"), node("b")};
    auto one = spread_over_nodes("one");
    auto& constraint = one.pod.spec.topologySpreadConstraints->at(0);
    bool is_possible = false;
    SECTION("what goes by the emptiest has to stay") {}
    SECTION("one more than there is in the emptiest is allowed to be") {
        constraint.maxSkew = 2;
        is_possible = true;
    }
    SECTION("its taint keeps it out of account") {
        constraint.nodeTaintsPolicy = api::NodeInclusionPolicy::Honor;
        is_possible = true;
    }
    SECTION("another node is in the same zone") {
        constraint.topologyKey = kZone;
        for (auto& each : cluster.nodes) edit(each).metadata.labels[kZone] = "z";
        is_possible = true;
    }
    SECTION("no other node is in its zone") {
        constraint.topologyKey = kZone;
        for (auto& each : cluster.nodes) edit(each).metadata.labels[kZone] = each.node->metadata.name;
    }
    SECTION("it is none that the pod could be on") {
        one.select("disk", "fast");
        edit(cluster.nodes[1]).metadata.labels["disk"] = "fast";
        is_possible = true;
    }
    cluster.nodes[0].pods = {one};
    cluster.nodes[1].pods = {spread_over_nodes("two")};
    scheduling::RemovalRequest request{{0}};
    CHECK(simulate_removal(cluster, request).possible);
    request.before_they_are_gone = true;
    CHECK(simulate_removal(cluster, request).possible == is_possible);
}

TEST_CASE("a pod that was resized in place needs room elsewhere for what it requests when it comes back") {
    auto cluster = two_nodes();
    cluster.nodes[0].pods = {web("w", "100m")};
    cluster.nodes[1].pods = {web("x", "3")};
    CHECK(simulate_removal(cluster, {{0}}).possible);
    cluster.returning[cluster.nodes[0].pods[0]->metadata.uid] = web("w", "2");
    const auto removal = simulate_removal(cluster, {{0}});
    CHECK_FALSE(removal.possible);
    CHECK(
        removal.reasons ==
        Reasons{
            "its pods fit nowhere else without a new machine for default/w (a removal may not create one)"});
    // On the node where it is, it takes what it has now.
    cluster.pods = {web("new", "3900m")};
    CHECK(target_of(cluster, scheduling::solve(cluster), "new") == "a");
}

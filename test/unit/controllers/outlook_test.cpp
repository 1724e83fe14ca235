// Whether a node can leave, by where its pods would go.
#include "controllers/disruption/rules/outlook.hpp"

#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using controllers::disruption::judge_departure;
using controllers::disruption::Kind;
using controllers::disruption::Outlook;

// Found by the simulation (93044719): the machine was bought again after ever longer pauses.
TEST_CASE(
    "a machine that was bought for one of a node's pods serves also if another might come to it first") {
    auto cluster = snapshot();
    const auto of_pool = [&](scheduling::Node node) {
        edit(node).metadata.labels[std::string(api::labels::kPool)] = "small";
        node.pool = 0;
        return node;
    };
    auto picky = PodBuilder("picky").owner("ReplicaSet", "r");
    picky.pod.spec.nodeSelector[std::string(api::labels::kPool)] = "small";
    auto important = PodBuilder("important").owner("ReplicaSet", "r");
    important.pod.spec.priority = 99;
    cluster.nodes = {of_pool(node("a", "16", "32Gi")), of_pool(node("bought", "1500m", "2Gi")),
                     node("elsewhere", "16", "32Gi")};
    cluster.nodes[0].pods = {picky, important};
    scheduling::Solver solver;
    CHECK(judge_departure(solver, cluster, {Kind::Underutilized, {0}, true}).outlook == Outlook::clear);

    // But where the scheduler would put the other there, the node stays.
    cluster.nodes[2] = node("elsewhere", "1100m", "1100Mi");
    cluster.pools[0].closed = "is paused";
    CHECK(judge_departure(solver, cluster, {Kind::Underutilized, {0}, true}).outlook == Outlook::impossible);
}

namespace {

const std::string kZone(api::labels::kZone);

PodBuilder spread_over_zones(const std::string& name) {
    auto built = PodBuilder(name).owner("ReplicaSet", "r").label("app", "web");
    auto& constraint = built.pod.spec.topologySpreadConstraints->emplace_back();
    constraint.topologyKey = kZone;
    constraint.labelSelector.emplace().matchLabels["app"] = "web";
    return built;
}

// Two zones with one node each, and pods that must be spread over both.
scheduling::Snapshot cluster_of_two_zones() {
    auto cluster = snapshot();
    cluster.nodes = {node("a", "16", "32Gi"), node("b", "16", "32Gi")};
    for (std::size_t i = 0; i < 2; ++i) {
        edit(cluster.nodes[i]).metadata.labels[kZone] = i == 0 ? "east" : "west";
        for (const auto* name : {"one", "two"})
            cluster.nodes[i].pods.push_back(spread_over_zones(name + std::to_string(i)));
    }
    return cluster;
}

}  // namespace

// Found by the simulation (95321004 of users): the drain of a drifted node ended with the first pod, whose
// budget kept the others until it had a place, and began anew every twenty minutes.
TEST_CASE("pods that have another place only once their node is gone go all at once, or not at all") {
    auto cluster = cluster_of_two_zones();
    scheduling::Solver solver;
    const auto kind = GENERATE(Kind::Drifted, Kind::Expired, Kind::Evacuation);
    const controllers::disruption::Departure departure{kind, {0}};
    CHECK(judge_departure(solver, cluster, departure).outlook == Outlook::drain_first);

    // Their zone stays.
    cluster.nodes.push_back(node("beside", "16", "32Gi"));
    edit(cluster.nodes[2]).metadata.labels[kZone] = "east";
    CHECK(judge_departure(solver, cluster, departure).outlook == Outlook::clear);
}

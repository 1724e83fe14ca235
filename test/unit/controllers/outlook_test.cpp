// Tests whether a node can be removed, by where its pods would be placed.
#include "controllers/disruption/rules/outlook.hpp"

#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using controllers::disruption::judge_departure;
using controllers::disruption::Kind;
using controllers::disruption::Outlook;

// Otherwise the machine would be launched again after ever longer pauses.
TEST_CASE(
    "a machine that was launched for one of a node's pods is enough even if another pod might get it first") {
    auto cluster = snapshot();
    const auto of_pool = [&](scheduling::NodeInfo node) {
        edit(node).metadata.labels[std::string(api::labels::kPool)] = "small";
        node.pool = 0;
        return node;
    };
    auto picky = PodBuilder("picky").owner("ReplicaSet", "r");
    picky.pod.spec.nodeSelector[std::string(api::labels::kPool)] = "small";
    auto important = PodBuilder("important").owner("ReplicaSet", "r");
    important.pod.spec.priority = 99;
    cluster.nodes = {of_pool(node("a", "16", "32Gi")), of_pool(node("launched", "1500m", "2Gi")),
                     node("elsewhere", "16", "32Gi")};
    cluster.nodes[0].pods = {picky, important};
    scheduling::Solver solver;
    CHECK(judge_departure(solver, cluster, {Kind::Underutilized, {0}, true}).outlook == Outlook::clear);

    // If the scheduler would place the other pod there, the node is kept.
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

// Returns two zones with one node each, and pods that must be spread over both.
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

// Otherwise the drain of a drifted node ends with the first pod, whose budget keeps the others until it has a
// place. The drain would then repeat every twenty minutes.
TEST_CASE("pods that have another place only once their node is gone go all at once, or not at all") {
    auto cluster = cluster_of_two_zones();
    scheduling::Solver solver;
    const auto kind = GENERATE(Kind::Drifted, Kind::Expired, Kind::Evacuation);
    const controllers::disruption::Departure departure{kind, {0}};
    CHECK(judge_departure(solver, cluster, departure).outlook == Outlook::drain_first);

    // Their zone remains.
    cluster.nodes.push_back(node("beside", "16", "32Gi"));
    edit(cluster.nodes[2]).metadata.labels[kZone] = "east";
    CHECK(judge_departure(solver, cluster, departure).outlook == Outlook::clear);
}

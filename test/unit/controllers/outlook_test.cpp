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

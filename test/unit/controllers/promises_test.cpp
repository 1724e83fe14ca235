// Tests which of the pods that a machine was launched for have no room on its Node.
#include "controllers/provisioning/promises.hpp"

#include "test/support/catch.hpp"
#include "test/support/pods.hpp"
#include "test/unit/controllers/objects.hpp"

using controllers::PodPointers;
using controllers::provisioning::without_room;
using objects::a_node;

namespace {

using Uids = std::set<std::string>;

builders::PodBuilder pod(const std::string& name, const std::string& cpu = "1") {
    return builders::PodBuilder(name, cpu, "1Mi");
}
builders::PodBuilder born(builders::PodBuilder pod, int seconds) {
    pod.pod.metadata.creationTimestamp = api::Time(objects::kStart.at + std::chrono::seconds{seconds});
    return pod;
}

}  // namespace

TEST_CASE("pods have their turn by priority, then by age, then by name") {
    const auto node = a_node("a").offering("cpu", "1");
    const PodPointers by_name{pod("b"), pod("a")};
    CHECK(without_room(node, {}, by_name) == Uids{"uid-b"});
    const PodPointers by_age{born(pod("a"), 2), born(pod("b"), 1)};
    CHECK(without_room(node, {}, by_age) == Uids{"uid-a"});
    const PodPointers by_priority{born(pod("a"), 1), born(pod("b").priority(1), 2), pod("c").priority(-1)};
    CHECK(without_room(node, {}, by_priority) == Uids{"uid-a", "uid-c"});
}

TEST_CASE("where a pod has no room a smaller one after it may have") {
    const auto node = a_node("a").offering("cpu", "2");
    CHECK(without_room(node, {}, {pod("a"), pod("b", "1500m"), pod("c", "500m"), pod("d", "500m")}) ==
          Uids{"uid-b"});
}

TEST_CASE("what is bound to a Node has its room first, also while it ends or where it takes too much") {
    const auto node = a_node("a").offering("cpu", "2");
    const PodPointers waiting{pod("a").priority(1000), pod("b", "0")};
    CHECK(without_room(node, {pod("agent").owner("DaemonSet").on("a")}, waiting).empty());
    CHECK(without_room(node, {pod("old", "1500m").on("a").ending(objects::kStart)}, waiting) ==
          Uids{"uid-a"});
    CHECK(without_room(node, {pod("much", "3").on("a")}, waiting) == Uids{"uid-a"});
}

TEST_CASE("all resources count that pods ask for, and their number") {
    const auto node = a_node("a").offering("pods", "2").offering("lab/gpu", "1");
    const auto two = [&](const std::string& resource, const std::string& amount) {
        return without_room(
            node, {},
            {pod("a", "0").requests({{resource, amount}}), pod("b", "0").requests({{resource, amount}})});
    };
    CHECK(two("memory", "2Gi").empty());
    CHECK(two("memory", "3Gi") == Uids{"uid-b"});
    CHECK(two("lab/gpu", "1") == Uids{"uid-b"});
    CHECK(two("ephemeral-storage", "1Gi") == Uids{"uid-a", "uid-b"});
    CHECK(without_room(node, {}, {pod("a", "0"), pod("b", "0"), pod("c", "0")}) == Uids{"uid-c"});
}

TEST_CASE("resources that a Node does not report yet exclude no pod") {
    auto node = a_node("a").node;
    CHECK(without_room(node, {}, {pod("a").requests({{"lab/gpu", "1"}})}).empty());
    node.status.allocatable.clear();
    CHECK(without_room(node, {}, {pod("a", "100")}).empty());
}

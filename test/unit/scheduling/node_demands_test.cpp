// Tests nodeSelector, node affinity and taints, and the messages about them.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

std::string reason_for(scheduling::Snapshot cluster, const PodBuilder& pod) {
    cluster.pods = {pod};
    const auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    REQUIRE(result.unplaced[0].reasons.size() == 1);
    return result.unplaced[0].reasons[0];
}

bool fits(scheduling::Snapshot cluster, const PodBuilder& pod) {
    cluster.pods = {pod};
    return solve(cluster).unplaced.empty();
}

}  // namespace

TEST_CASE("a pod too large for any machine is told the difference") {
    auto cluster = snapshot();
    cluster.pools[0].flexible.cpuCores.max = 4;
    cluster.pools[0].reserved = {100, 256};
    CHECK(reason_for(cluster, PodBuilder("a", "6")) ==
          "pool small: needs 6 CPUs, largest machine offers 3.9 after system reserve: ask for less, or set a "
          "larger max in machineTemplate.flexible");
    cluster.pools[0].flexible.memoryMiB.max = 8192;
    CHECK(reason_for(cluster, PodBuilder("a", "1", "10Gi")) ==
          "pool small: needs 10 GiB, largest machine offers 7.75 GiB after system reserve: ask for less, or "
          "set a larger max in machineTemplate.flexible");
    cluster.pools[0].shapes = {{"small", 2, 4096, 110}};
    CHECK(reason_for(cluster, PodBuilder("a", "6")) ==
          "pool small: needs 6 CPUs, largest machine offers 1.9 after system reserve: ask for less, or add a "
          "larger one to machineTemplate.sizes");
}

TEST_CASE("a larger max of the pool is advised only where its hosts could give more") {
    auto cluster = snapshot();
    cluster.pools[0].flexible.cpuCores.max = 64;
    cluster.places[0].largest = scheduling::MachineSize{32, 65536};
    CHECK(
        reason_for(cluster, PodBuilder("a", "100")) ==
        "pool small: needs 100 CPUs, largest machine offers 32 after system reserve: ask for less, or add a "
        "larger host and set a larger max in machineTemplate.flexible");
    CHECK(
        reason_for(cluster, PodBuilder("a", "40")) ==
        "pool small: needs 40 CPUs, largest machine offers 32 after system reserve, as no host can give one "
        "machine more: ask for less, or add a larger host");
}

TEST_CASE("the reason of a full pool is the size or label of the pod if none of its hosts could take it") {
    auto cluster = snapshot();
    auto& pool = cluster.pools[0];
    pool.places.clear();
    const std::string kDisk = "disk";
    pool.busy = {{"metal-1", {{kDisk, "ssd"}}, scheduling::MachineSize{8, 16384}, true},
                 {"metal-2", {{kDisk, "hdd"}}, scheduling::MachineSize{16, 32768}, true}};
    CHECK(reason_for(cluster, PodBuilder("a", "20")) ==
          "pool small: needs 20 CPUs, largest machine offers 16 after system reserve: ask for less, or add a "
          "larger host");
    CHECK(reason_for(cluster, PodBuilder("a").select(kDisk, "tape")) ==
          "pool small: its nodes have no label disk=tape: if they should have it, add it to "
          "machineTemplate.labels of the pool");
    CHECK(reason_for(cluster, PodBuilder("a").select(kDisk, "ssd")) ==
          "pool small: no host can take a machine: metal-1 is in use or offline: add hosts, or wait");
    pool.taints = {taint("dedicated")};
    CHECK(reason_for(cluster, PodBuilder("a")).starts_with("pool small: has taint dedicated:NoSchedule"));
}

TEST_CASE("where a host that suits the pod is in use, the pod is not said to ask for too much") {
    auto cluster = snapshot();
    auto& pool = cluster.pools[0];
    cluster.places[0].largest = scheduling::MachineSize{4, 8192};
    pool.busy = {{"host-b", {{"disk", "ssd"}}, scheduling::MachineSize{16, 65536}}};
    CHECK(reason_for(cluster, PodBuilder("a").select("disk", "ssd")) ==
          "pool small: host-b would suit the pod, but is in use or offline: add hosts, or wait");
    CHECK(reason_for(cluster, PodBuilder("a", "8")) ==
          "pool small: no free host is large enough: larger ones are in use or offline");
}

TEST_CASE("the pools that come nearest to taking the pod are explained, and the others are counted") {
    auto cluster = snapshot();
    cluster.budgets = {{"limits.maxNodes of pool limited", 0, {}, {}}};
    cluster.pools = {pool("unlike"), pool("tainted"), pool("small"), pool("unlike-too"), pool("limited")};
    for (const auto index : {1, 2, 4}) cluster.pools[static_cast<std::size_t>(index)].labels["disk"] = "ssd";
    cluster.pools[1].taints = {taint("dedicated")};
    cluster.pools[1].weight = 10;
    cluster.pools[2].flexible.cpuCores.max = 2;
    cluster.pools[4].budgets = {0};
    cluster.pods = {PodBuilder("a", "3").select("disk", "ssd"), PodBuilder("b", "3").select("disk", "ssd")};
    const auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 2);
    for (const auto& unplaced : result.unplaced)
        CHECK(unplaced.reasons ==
              std::vector<std::string>{
                  "pool limited: limits.maxNodes of pool limited: 0 nodes left",
                  "pool small: needs 3 CPUs, largest machine offers 2 after system reserve: ask for less, or "
                  "set a larger max in machineTemplate.flexible",
                  "3 other pools: no label disk=ssd (2), taint dedicated (1)"});
}

TEST_CASE("a closed pool whose nodes could never take the pod is not named as the nearest") {
    auto cluster = snapshot();
    cluster.pools = {pool("paused"), pool("small")};
    cluster.pools[0].closed = "is paused";
    cluster.pools[1].labels["disk"] = "ssd";
    cluster.pools[1].flexible.cpuCores.max = 2;
    cluster.pods = {PodBuilder("a", "3").select("disk", "ssd")};
    const auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    REQUIRE(result.unplaced[0].reasons.size() == 2);
    CHECK(result.unplaced[0].reasons[0].starts_with("pool small: needs 3 CPUs"));
    CHECK(result.unplaced[0].reasons[1].starts_with("pool paused: its nodes have no label disk=ssd"));
}

TEST_CASE("up to three pools are all explained, the nearest first") {
    auto cluster = snapshot();
    cluster.pools = {pool("tainted"), pool("unlike"), pool("paused")};
    cluster.pools[0].taints = {taint("dedicated")};
    cluster.pools[2].closed = "is paused";
    for (const auto index : {0, 2}) cluster.pools[static_cast<std::size_t>(index)].labels["disk"] = "ssd";
    cluster.pods = {PodBuilder("a", "3").select("disk", "ssd")};
    const auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons ==
          std::vector<std::string>{
              "pool paused: is paused",
              "pool unlike: its nodes have no label disk=ssd: if they should have it, add it to "
              "machineTemplate.labels of the pool",
              "pool tainted: has taint dedicated:NoSchedule, which the pod does not tolerate: let the pod "
              "tolerate it, or remove it from machineTemplate.taints of the pool"});
}

TEST_CASE("a label may be added to a pool unless Kubernetes or the operator sets it") {
    const auto has_advice = [](const std::string& label) {
        return reason_for(snapshot(), PodBuilder("a").select(label, "x")).find("machineTemplate.labels") !=
               std::string::npos;
    };
    CHECK(has_advice("disk"));
    CHECK(has_advice("notkubernetes.io/disk"));
    CHECK_FALSE(has_advice("kubernetes.io/disk"));
    CHECK_FALSE(has_advice("topology.kubernetes.io/disk"));
}

TEST_CASE("without a pool the reason says so") {
    auto cluster = snapshot();
    cluster.pools.clear();
    CHECK(reason_for(cluster, PodBuilder("a")) ==
          "there is no pool that could create a node: create a NodeSmithPool");
}

TEST_CASE("a node selector is met by the labels of pool and place") {
    auto cluster = snapshot();
    cluster.pools[0].labels["disk"] = "ssd";
    add_places(cluster, {"host-b"});
    CHECK(fits(cluster, PodBuilder("a").select("disk", "ssd")));
    CHECK(reason_for(cluster, PodBuilder("a").select("disk", "hdd")) ==
          "pool small: its nodes have no label disk=hdd"
          ": if they should have it, add it to machineTemplate.labels of the pool");

    cluster.pods = {PodBuilder("a").select("topology.kubernetes.io/zone", "host-b")};
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].zone == "host-b");
    CHECK(result.claims[0].place == 1);
}

TEST_CASE("pods that want different zones do not share a machine, undecided ones join either") {
    auto cluster = snapshot();
    add_places(cluster, {"host-b"});
    const std::string zone(api::labels::kZone);
    cluster.pods = {PodBuilder("undecided", "3"), PodBuilder("in-a", "2").select(zone, "host-a"),
                    PodBuilder("in-b", "1").select(zone, "host-b")};
    const auto result = solve(cluster);
    CHECK(pods_by_claim(result) == std::vector<std::vector<std::string>>{{"undecided", "in-a"}, {"in-b"}});
    CHECK(result.claims[0].zone == "host-a");
    CHECK(result.claims[1].zone == "host-b");
}

TEST_CASE("the name of a node to come is unlike any other") {
    auto cluster = snapshot();
    const std::string hostname(api::labels::kHostname);
    CHECK_FALSE(fits(cluster, PodBuilder("a").select(hostname, "node-1")));
    CHECK(fits(cluster, PodBuilder("a").require({not_in(hostname, {"node-1"})})));
    CHECK(fits(cluster, PodBuilder("a").require({{hostname, api::SelectorOperator::Exists, {}}})));
    CHECK_FALSE(
        fits(cluster, PodBuilder("a").require({{hostname, api::SelectorOperator::DoesNotExist, {}}})));
}

TEST_CASE("terms of required node affinity are alternatives, requirements within one are not") {
    auto cluster = snapshot();
    cluster.pools[0].labels["disk"] = "ssd";
    cluster.pools[0].labels["cores"] = "8";
    CHECK(fits(cluster, PodBuilder("a").require({in("disk", {"hdd"})}).require({in("disk", {"ssd"})})));
    CHECK_FALSE(fits(cluster, PodBuilder("a").require({in("disk", {"ssd"}), in("cores", {"4"})})));
    CHECK(fits(cluster, PodBuilder("a").require({{"cores", api::SelectorOperator::Gt, {"7"}}})));
    CHECK_FALSE(fits(cluster, PodBuilder("a").require({{"cores", api::SelectorOperator::Lt, {"8"}}})));
    CHECK(fits(cluster, PodBuilder("a").require({{"gpu", api::SelectorOperator::DoesNotExist, {}}})));
    CHECK(reason_for(cluster, PodBuilder("a").require({in("disk", {"hdd"})})) ==
          "pool small: its nodes do not match the required node affinity, which asks for label "
          "disk=hdd: if they should have it, add it to machineTemplate.labels of the pool");
    CHECK_FALSE(fits(cluster, PodBuilder("a").require({})));
}

TEST_CASE("the field metadata.name finds a node that exists") {
    auto cluster = snapshot();
    cluster.nodes = {node("one"), node("two")};
    auto pod = PodBuilder("a").require({});
    pod.pod.spec.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution->nodeSelectorTerms[0]
        .matchFields = {in("metadata.name", {"two"})};
    cluster.pods = {pod};
    CHECK(target_of(cluster, solve(cluster), "a") == "two");
}

TEST_CASE("taints keep pods away that do not tolerate them") {
    auto cluster = snapshot();
    cluster.pools[0].taints = {taint("dedicated")};
    CHECK(reason_for(cluster, PodBuilder("a")) ==
          "pool small: has taint dedicated:NoSchedule, which the pod does not tolerate"
          ": let the pod tolerate it, or remove it from machineTemplate.taints of the pool");
    CHECK(fits(cluster, PodBuilder("a").tolerate("dedicated")));
    cluster.nodes = {node("cordoned")};
    edit(cluster.nodes[0]).spec.unschedulable = true;
    cluster.pools.clear();
    CHECK_FALSE(fits(cluster, PodBuilder("a")));
    CHECK(fits(cluster, PodBuilder("a").tolerate("node.kubernetes.io/unschedulable")));
}

TEST_CASE("tolerations compare key, value and effect") {
    auto cluster = snapshot();
    auto dedicated = taint("dedicated", api::taints::kNoExecute);
    dedicated.value = "db";
    cluster.pools[0].taints = {dedicated};
    auto pod = PodBuilder("a");
    auto& toleration = pod.pod.spec.tolerations->emplace_back();
    toleration.key = "dedicated";
    toleration.value = "web";
    CHECK_FALSE(fits(cluster, pod));
    toleration.value = "db";
    CHECK(fits(cluster, pod));
    toleration.effect = "NoSchedule";
    CHECK_FALSE(fits(cluster, pod));
    toleration.effect = "NoExecute";
    CHECK(fits(cluster, pod));
    toleration = {};
    toleration.operator_ = api::TolerationOperator::Exists;
    CHECK(fits(cluster, pod));
}

TEST_CASE("a pod that requires a feature of the kubelet needs a node that declares it") {
    auto cluster = snapshot();
    cluster.nodes = {node("old")};
    PodBuilder pod("a");
    pod.pod.spec.containers->front().restartPolicyRules = {{"RestartAllContainers"}};
    cluster.pods = {pod};
    // Nothing is known of new machines, so one is tried.
    CHECK(solve(cluster).claims.size() == 1);

    cluster.pools[0].declared_features.emplace();
    CHECK(reason_for(cluster, pod) ==
          "pool small: its youngest node does not declare the feature RestartAllContainersOnContainerExits "
          "(status.declaredFeatures), which the pod requires: turn it on in the kubelet");
    cluster.pools[0].declared_features = {"RestartAllContainersOnContainerExits"};
    CHECK(solve(cluster).claims.size() == 1);
    edit(cluster.nodes[0]).status.declaredFeatures = {"RestartAllContainersOnContainerExits"};
    CHECK(solve(cluster).claims.empty());
}

TEST_CASE("a pod with the host's network and users of its own requires a feature of the kubelet") {
    auto cluster = snapshot();
    cluster.pools[0].declared_features.emplace();
    PodBuilder pod("a");
    pod.pod.spec.hostNetwork = true;
    CHECK(fits(cluster, pod));
    pod.pod.spec.hostUsers = false;
    CHECK_THAT(reason_for(cluster, pod), Catch::Contains("UserNamespacesHostNetworkSupport"));
    pod.pod.spec.hostNetwork = false;
    CHECK(fits(cluster, pod));
}

// Tests how many machines are launched, of which size, and what limits do.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

constexpr std::int64_t kGiB = 1024;  // in MiB

void add_pods(scheduling::Snapshot& snapshot, int count, const std::string& cpu, const std::string& memory) {
    for (int i = 0; i < count; ++i)
        snapshot.pods.push_back(PodBuilder("pod-" + std::to_string(i), cpu, memory));
}

std::shared_ptr<const api::DaemonSet> daemon_set(const std::string& name, const std::string& cpu) {
    auto set = std::make_shared<api::DaemonSet>();
    set->metadata.name = name;
    set->metadata.namespace_ = "kube-system";
    set->metadata.uid = "uid-" + name;
    set->spec.template_.spec = PodBuilder(name, cpu, "0").pod.spec;
    return set;
}

}  // namespace

TEST_CASE("nothing is launched without demand") {
    const auto result = solve(snapshot());
    CHECK(result.claims.empty());
    CHECK(result.placements.empty());
    CHECK(result.demand_unmet == 0);
}

TEST_CASE("a pod that fits a ready node is placed there") {
    auto cluster = snapshot();
    cluster.nodes = {node("full", "1"), node("free")};
    cluster.nodes[0].pods = {PodBuilder("old", "1")};
    cluster.pods = {PodBuilder("new", "1")};
    const auto result = solve(cluster);
    CHECK(target_of(cluster, result, "new") == "free");
    CHECK(result.claims.empty());
}

TEST_CASE("finished pods take no room") {
    auto cluster = snapshot();
    cluster.nodes = {node("only", "1")};
    auto done = PodBuilder("done", "1");
    done.pod.status.phase = api::PodPhase::Succeeded;
    cluster.nodes[0].pods = {done};
    cluster.pods = {PodBuilder("new", "1")};
    CHECK(target_of(cluster, solve(cluster), "new") == "only");
}

TEST_CASE("a node that is being created is used before another one is launched") {
    auto cluster = snapshot();
    cluster.nodes = {node("coming")};
    cluster.nodes[0].availability = scheduling::Availability::coming;
    edit(cluster.nodes[0]).spec.taints = {taint("startup"), taint("node.kubernetes.io/not-ready")};
    cluster.nodes[0].startup_taints = {taint("startup")};
    cluster.pods = {PodBuilder("new")};
    CHECK(target_of(cluster, solve(cluster), "new") == "coming");

    cluster.nodes[0].availability = scheduling::Availability::ready;
    CHECK(target_of(cluster, solve(cluster), "new") == "claim 0");
}

TEST_CASE("pods of a leaving node get another place, those bound to it do not") {
    auto cluster = snapshot();
    cluster.nodes = {node("leaving"), node("staying", "2")};
    cluster.nodes[0].availability = scheduling::Availability::leaving;
    auto terminating = PodBuilder("terminating").owner("ReplicaSet", "r");
    terminating.pod.metadata.deletionTimestamp = api::Time::parse("2026-01-01T00:00:00Z");
    auto set = PodBuilder("set-0").owner("StatefulSet", "s");
    set.pod.metadata.deletionTimestamp = api::Time::parse("2026-01-01T00:00:00Z");
    cluster.nodes[0].pods = {PodBuilder("web").owner("ReplicaSet", "r"),
                             PodBuilder("agent").owner("DaemonSet", "d"), terminating, set};
    const auto result = solve(cluster);
    CHECK(result.placements.size() == 2);
    CHECK(target_of(cluster, result, "web") == "staying");
    CHECK(target_of(cluster, result, "set-0") == "staying");
    CHECK(result.claims.empty());
}

TEST_CASE("flexible machines are as small as their pods allow") {
    auto cluster = snapshot();
    add_pods(cluster, 3, "1500m", "2Gi");
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].cpu_cores == 5);
    CHECK(result.claims[0].memory_mib == 6 * kGiB);
    CHECK(result.claims[0].pods.size() == 3);
    CHECK(result.claims[0].shape.empty());
    CHECK(result.claims[0].zone.empty());
}

TEST_CASE(
    "machines are large enough for the system reserve and DaemonSets too, so that the pods really fit") {
    auto cluster = snapshot();
    cluster.pools[0].reserved = {100, 256};
    cluster.daemon_sets = {daemon_set("agent", "200m")};
    cluster.pods = {PodBuilder("a", "4", "4Gi")};
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].cpu_cores == 5);
    CHECK(result.claims[0].memory_mib == 4 * kGiB + 512);
}

TEST_CASE("a DaemonSet takes room only where its pods run and are not there yet") {
    auto cluster = snapshot();
    auto set = std::make_shared<api::DaemonSet>(*daemon_set("agent", "1"));
    set->spec.template_.spec.nodeSelector = {{"disk", "ssd"}};
    cluster.daemon_sets = {set};
    cluster.nodes = {node("a", "2"), node("b", "2"), node("c", "2")};
    edit(cluster.nodes[0]).metadata.labels["disk"] = "ssd";
    edit(cluster.nodes[1]).metadata.labels["disk"] = "ssd";
    cluster.nodes[1].pods = {PodBuilder("agent-x", "1").owner("DaemonSet", "uid-agent")};
    cluster.pods = {PodBuilder("big", "2"), PodBuilder("first", "1"), PodBuilder("second", "1")};
    const auto result = solve(cluster);
    CHECK(target_of(cluster, result, "big") == "c");
    CHECK(target_of(cluster, result, "first") != target_of(cluster, result, "second"));
    CHECK(result.claims.empty());
}

// Otherwise a user who may create DaemonSets in one namespace could keep all pods from their machines.
TEST_CASE("a DaemonSet whose pod fits on no machine is not counted, and is told of") {
    auto cluster = snapshot();
    const auto& largest = cluster.pools[0].flexible;
    const auto beyond = std::to_string(static_cast<std::int64_t>(largest.cpuCores.max) + 1);
    cluster.daemon_sets = {daemon_set("beyond", beyond), daemon_set("agent", "200m")};
    cluster.pods = {PodBuilder("a", "4", "4Gi")};
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].cpu_cores == 5);
    REQUIRE(result.oversized_daemons.size() == 1);
    CHECK(result.oversized_daemons[0].name == "beyond");
    CHECK(result.oversized_daemons[0].pools == std::vector<std::size_t>{0});
}

TEST_CASE("of DaemonSets that do not fit together the oldest takes its room") {
    auto cluster = snapshot();
    const auto most = static_cast<std::int64_t>(cluster.pools[0].flexible.cpuCores.max);
    auto younger = std::make_shared<api::DaemonSet>(*daemon_set("a-younger", std::to_string(most)));
    younger->metadata.creationTimestamp = api::Time::parse("2027-01-01T00:00:00Z");
    cluster.daemon_sets = {younger, daemon_set("older", "1")};
    cluster.pods = {PodBuilder("a", "2", "1Gi")};
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].cpu_cores == 3);
}

TEST_CASE("a machine is as large as its DaemonSets need, if the pool has such a size") {
    auto cluster = snapshot();
    cluster.pools[0].shapes = {{"small", 2, 8 * kGiB, 110}, {"large", 4, 8 * kGiB, 110}};
    SECTION("one that does not fit the small size") {
        cluster.daemon_sets = {daemon_set("heavy", "2500m")};
    }
    SECTION("two that fit it one by one") {
        cluster.daemon_sets = {daemon_set("cni", "1200m"), daemon_set("csi", "900m")};
    }
    SECTION("an old one that fits beside the pod, and a young one that does not") {
        auto young = std::make_shared<api::DaemonSet>(*daemon_set("young", "1800m"));
        young->metadata.creationTimestamp = api::Time::parse("2027-01-01T00:00:00Z");
        cluster.daemon_sets = {daemon_set("old", "300m"), young};
    }
    // The price of packing them on small machines must not decide.
    for (const auto* name : {"a", "b", "c"}) cluster.pods.push_back(PodBuilder(name, "300m", "1Gi"));
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].shape == "large");
}

TEST_CASE("a DaemonSet that takes nearly all of the largest size makes no machine larger") {
    auto cluster = snapshot();
    cluster.pools[0].shapes = {{"small", 2, 8 * kGiB, 110}, {"large", 4, 8 * kGiB, 110}};
    cluster.daemon_sets = {daemon_set("greedy", "3700m")};
    for (const auto* name : {"a", "b", "c"}) cluster.pods.push_back(PodBuilder(name, "300m", "1Gi"));
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].shape == "small");
}

TEST_CASE("a machine that holds all DaemonSets does not grow to one that leaves some out") {
    auto cluster = snapshot();
    // The larger one has less memory, so the DaemonSet does not fit there.
    cluster.pools[0].shapes = {{"wide", 8, 2 * kGiB, 110}, {"high", 4, 16 * kGiB, 110}};
    auto heavy = std::make_shared<api::DaemonSet>(*daemon_set("heavy", "100m"));
    heavy->spec.template_.spec.containers->at(0).resources.requests["memory"] = quantity("4Gi");
    cluster.daemon_sets = {heavy};
    cluster.pods = {PodBuilder("a", "3", "1Gi"), PodBuilder("b", "2", "512Mi")};
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 2);
    for (const auto& claim : result.claims) CHECK(claim.shape == "high");
}

TEST_CASE(
    "a machine of the size that its host or limits allow is launched, if DaemonSets need a larger one") {
    auto cluster = snapshot();
    cluster.pools[0].shapes = {{"small", 2, 8 * kGiB, 110}, {"large", 4, 8 * kGiB, 110}};
    cluster.places[0].free_cpu_cores = 3;
    cluster.places[0].free_memory_mib = 64 * kGiB;
    cluster.daemon_sets = {daemon_set("heavy", "2500m")};
    cluster.pods = {PodBuilder("a", "1", "1Gi")};
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].shape == "small");
}

TEST_CASE("a DaemonSet takes nothing of a size that its pod does not fit on, if no size holds both") {
    auto cluster = snapshot();
    cluster.pools[0].shapes = {{"small", 4, 8 * kGiB, 110}, {"large", 8, 8 * kGiB, 110}};
    cluster.daemon_sets = {daemon_set("heavy", "6")};
    cluster.pods = {PodBuilder("a", "3", "1Gi")};
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].cpu_cores == 4);
    CHECK(result.oversized_daemons.empty());
}

TEST_CASE("a DaemonSet whose pod does not fit on a node takes nothing of it") {
    auto cluster = snapshot();
    cluster.daemon_sets = {daemon_set("beyond", "32")};
    cluster.nodes = {node("a", "8")};
    cluster.pods = {PodBuilder("first", "2")};
    const auto result = solve(cluster);
    CHECK(target_of(cluster, result, "first") == "a");
    CHECK(result.claims.empty());
}

TEST_CASE("a DaemonSet that states only limits takes them, and one in the host's network its ports") {
    auto cluster = snapshot();
    auto set = std::make_shared<api::DaemonSet>(*daemon_set("exporter", "0"));
    auto& pod = set->spec.template_.spec;
    pod.hostNetwork = true;
    pod.containers->at(0).resources.requests.clear();
    pod.containers->at(0).resources.limits = {{"cpu", quantity("500m")}};
    pod.containers->at(0).ports = {{9100, 0, "", "TCP"}};
    cluster.daemon_sets = {set};
    auto rival = PodBuilder("rival", "1");
    rival.pod.spec.containers->at(0).ports = {{80, 9100, "", "TCP"}};
    cluster.pods = {PodBuilder("a", "4"), rival};
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].cpu_cores == 5);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].pod->metadata.name == "rival");
}

TEST_CASE("of fixed sizes, the smallest that holds its pods is launched") {
    auto cluster = snapshot();
    cluster.pools[0].shapes = {{"large", 8, 16 * kGiB}, {"small", 2, 4 * kGiB}, {"medium", 4, 8 * kGiB}};
    cluster.pools[0].reserved = {100, 256};
    add_pods(cluster, 5, "1900m", "1Gi");
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 2);
    CHECK(result.claims[0].shape == "large");
    CHECK(result.claims[0].pods.size() == 4);
    CHECK(result.claims[1].shape == "small");
    CHECK(result.claims[1].cpu_cores == 2);
    CHECK(result.unplaced.empty());
}

TEST_CASE("a size with much memory and one with many CPUs are both found") {
    auto cluster = snapshot();
    cluster.pools[0].shapes = {{"cpu", 16, 8 * kGiB}, {"memory", 2, 64 * kGiB}};
    cluster.pods = {PodBuilder("many-cpus", "12", "4Gi"), PodBuilder("much-memory", "1", "40Gi"),
                    PodBuilder("both", "12", "40Gi")};
    const auto result = solve(cluster);
    CHECK(result.claims.size() == 2);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].pod->metadata.name == "both");
    CHECK(result.unplaced[0].reasons ==
          std::vector<std::string>{"pool small: no machine offers 12 CPUs and 40 GiB together with all else "
                                   "that is requested: ask for less, or offer a machine that has all of it"});
}

TEST_CASE("no more pods are put on a machine than the kubelet allows") {
    auto cluster = snapshot();
    cluster.pools[0].pods_per_node = 10;
    add_pods(cluster, 25, "10m", "1Mi");
    const auto result = solve(cluster);
    CHECK(result.claims.size() == 3);
    CHECK(result.unplaced.empty());
}

TEST_CASE("extended resources come from pools that offer them") {
    auto cluster = snapshot();
    cluster.pools.push_back(pool("gpu"));
    cluster.pools[1].extended_resources = {{"example.com/gpu", quantity("2")}};
    cluster.pods = {PodBuilder("a").requests({{"example.com/gpu", "2"}}),
                    PodBuilder("b").requests({{"example.com/gpu", "1"}}),
                    PodBuilder("c").requests({{"example.com/gpu", "3"}})};
    const auto result = solve(cluster);
    CHECK(result.claims.size() == 2);
    for (const auto& claim : result.claims) CHECK(claim.pool == 1);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].pod->metadata.name == "c");
    CHECK(result.unplaced[0].reasons ==
          std::vector<std::string>{
              "pool gpu: needs 3 example.com/gpu, largest machine offers 2: if its machines have more, state "
              "it in "
              "machineTemplate.extendedResources of the pool",
              "pool small: its machines offer no example.com/gpu: if they have it, state it "
              "in machineTemplate.extendedResources of the pool"});
}

TEST_CASE("the pool of higher weight is used first, then the one that wastes least, then by name") {
    auto cluster = snapshot();
    cluster.pools = {pool("b"), pool("a"), pool("c")};
    cluster.pods = {PodBuilder("p")};
    CHECK(solve(cluster).claims.at(0).pool == 1);
    cluster.pools[1].flexible.cpuCores.min = 4;
    CHECK(solve(cluster).claims.at(0).pool == 0);
    cluster.pools[2].weight = 10;
    CHECK(solve(cluster).claims.at(0).pool == 2);
    cluster.pools[2].closed = "its provider is not Ready";
    CHECK(solve(cluster).claims.at(0).pool == 0);
}

TEST_CASE("as much as a node limit allows is launched, and the cut is named") {
    auto cluster = snapshot();
    cluster.pools[0].flexible.cpuCores.max = 2;
    cluster.budgets = {{"limits.maxNodes of pool small", 2, {}, {}}};
    cluster.pools[0].budgets = {0};
    add_pods(cluster, 3, "2", "1Gi");
    const auto result = solve(cluster);
    CHECK(result.claims.size() == 2);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons ==
          std::vector<std::string>{"pool small: limits.maxNodes of pool small: 0 nodes left"});
    CHECK(result.cuts == std::vector<scheduling::Cut>{{0, "limits.maxNodes of pool small: 0 nodes left"}});
}

TEST_CASE("machines grow only within the limits of CPU and memory that pools share") {
    auto cluster = snapshot();
    cluster.pools = {pool("a"), pool("b")};
    cluster.budgets = {{"limits.cpuCores", {}, 5, {}}, {"limits.memoryMiB", {}, {}, 3 * kGiB}};
    for (auto& each : cluster.pools) each.budgets = {0, 1};
    add_pods(cluster, 10, "1", "512Mi");
    auto result = solve(cluster);
    std::int64_t cores = 0;
    for (const auto& claim : result.claims) cores += claim.cpu_cores;
    CHECK(cores == 5);
    CHECK(result.unplaced.size() == 5);
    cluster.budgets[0].cpu_cores = 100;
    result = solve(cluster);
    std::int64_t memory = 0;
    for (const auto& claim : result.claims) memory += claim.memory_mib;
    CHECK(memory == 3 * kGiB);
    CHECK(result.unplaced.size() == 4);
}

TEST_CASE("limits hit the least important pods") {
    auto cluster = snapshot();
    cluster.budgets = {{"limits.cpuCores", {}, 2, {}}};
    cluster.pools[0].budgets = {0};
    cluster.pods = {PodBuilder("large", "2"), PodBuilder("important", "1").priority(100)};
    const auto result = solve(cluster);
    CHECK(target_of(cluster, result, "important") == "claim 0");
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons[0] == "pool small: limits.cpuCores: 1 CPU left, 2 needed");
}

TEST_CASE("what a host can give is used up within the solve") {
    auto cluster = snapshot();
    add_places(cluster, {"host-b"});
    cluster.places[0].free_cpu_cores = 4;
    cluster.places[1].free_cpu_cores = 3;
    add_pods(cluster, 8, "1", "1Gi");
    const auto result = solve(cluster);
    CHECK(result.claims.size() == 2);
    CHECK(result.unplaced.size() == 1);
    std::map<std::size_t, std::int64_t> cores;
    for (const auto& claim : result.claims) cores[claim.place] += claim.cpu_cores;
    CHECK(cores == std::map<std::size_t, std::int64_t>{{0, 4}, {1, 3}});
    CHECK(result.unplaced[0].reasons[0] ==
          "pool small: no host has room for a machine with 1 CPU and 1 GiB: add a host, or free room on one");
}

TEST_CASE("minimal nodes are launched without pods, and those that exist or are being created count") {
    auto cluster = snapshot();
    cluster.pools[0].min_nodes = 3;
    cluster.nodes = {node("mine"), node("foreign")};
    cluster.nodes[0].pool = 0;
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 2);
    CHECK(result.claims[0].reason == "to have at least 3 nodes (limits.minNodes)");
    CHECK(result.claims[0].cpu_cores == 1);
    CHECK(result.demand_unmet == 0);
    cluster.budgets = {{"limits.maxNodes", 1, {}, {}}};
    cluster.pools[0].budgets = {0};
    const auto cut = solve(cluster);
    CHECK(cut.claims.size() == 1);
    CHECK(cut.demand_unmet == 1);
    CHECK(cut.cuts.size() == 1);
}

TEST_CASE("spare room is launched beyond the pods") {
    auto cluster = snapshot();
    cluster.pools[0].spare = {4, 4 * kGiB, 0};
    cluster.pods = {PodBuilder("a", "2", "1Gi")};
    auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].cpu_cores == 6);
    CHECK(result.claims[0].memory_mib == 5 * kGiB);

    cluster.nodes = {node("mine", "4", "4Gi")};
    cluster.nodes[0].pool = 0;
    cluster.pods.clear();
    CHECK(solve(cluster).claims.empty());
    cluster.pods = {PodBuilder("a", "1", "1Gi")};
    result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].cpu_cores == 1);
    CHECK(result.claims[0].reason == "to keep 4 CPUs and 4 GiB spare (scaleUp.headroom)");
}

TEST_CASE("spare nodes are nodes without pods") {
    auto cluster = snapshot();
    cluster.pools[0].spare.nodes = 1;
    cluster.nodes = {node("mine")};
    cluster.nodes[0].pool = 0;
    cluster.nodes[0].pods = {PodBuilder("agent").owner("DaemonSet", "d")};
    CHECK(solve(cluster).claims.empty());
    cluster.pods = {PodBuilder("a")};
    CHECK(solve(cluster).claims.size() == 1);
}

TEST_CASE("spare room larger than one machine is spread over several") {
    auto cluster = snapshot();
    cluster.pools[0].spare = {40, 0, 0};
    const auto result = solve(cluster);
    CHECK(result.claims.size() == 3);
    CHECK(result.demand_unmet == 0);
}

// Tests the demands of pods on the pods around them.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

const std::string kZone(api::labels::kZone);
const std::string kHostname(api::labels::kHostname);

api::LabelSelector app(const std::string& name) {
    api::LabelSelector selector;
    selector.matchLabels["app"] = name;
    return selector;
}

api::PodAffinityTerm term(const std::string& name, const std::string& key) {
    api::PodAffinityTerm term;
    term.labelSelector = app(name);
    term.topologyKey = key;
    return term;
}

PodBuilder pod(const std::string& name, const std::string& app_name) {
    return PodBuilder(name, "1", "1Gi").label("app", app_name);
}

PodBuilder apart(const std::string& name, const std::string& app_name, const std::string& from,
                 const std::string& key) {
    auto built = pod(name, app_name);
    built.affinity().podAntiAffinity.emplace().requiredDuringSchedulingIgnoredDuringExecution = {
        term(from, key)};
    return built;
}

PodBuilder beside(const std::string& name, const std::string& app_name, const std::string& other,
                  const std::string& key) {
    auto built = pod(name, app_name);
    built.affinity().podAffinity.emplace().requiredDuringSchedulingIgnoredDuringExecution = {
        term(other, key)};
    return built;
}

PodBuilder spread(const std::string& name, const std::string& key, std::int32_t skew = 1) {
    auto built = pod(name, "web");
    auto& constraint = built.pod.spec.topologySpreadConstraints->emplace_back();
    constraint.topologyKey = key;
    constraint.maxSkew = skew;
    constraint.labelSelector = app("web");
    return built;
}

// Returns one pool that launches in three zones.
scheduling::Snapshot three_zones() {
    auto cluster = snapshot();
    add_places(cluster, {"host-b", "host-c"});
    return cluster;
}

scheduling::NodeInfo node_in(const std::string& name, const std::string& zone) {
    auto made = node(name);
    edit(made).metadata.labels[kZone] = zone;
    return made;
}

std::map<std::string, std::size_t> pods_by_zone(const scheduling::Snapshot& cluster,
                                                const scheduling::SolveResult& result) {
    std::map<std::string, std::size_t> pods;
    for (const auto& claim : result.claims) pods[cluster.places[claim.place].name] += claim.pods.size();
    return pods;
}

}  // namespace

TEST_CASE("pods that keep apart by host get a machine each") {
    auto cluster = snapshot();
    for (int i = 0; i < 3; ++i) cluster.pods.push_back(apart("p" + std::to_string(i), "db", "db", kHostname));
    CHECK(solve(cluster).claims.size() == 3);
}

TEST_CASE("anti-affinity of a running pod keeps a pod away that has none itself") {
    auto cluster = three_zones();
    cluster.nodes = {node_in("busy", "host-a"), node_in("beside", "host-a")};
    cluster.nodes[0].pods = {apart("hermit", "hermit", "web", kZone)};
    cluster.pods = {pod("web", "web")};
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(cluster.places[result.claims[0].place].name != "host-a");
}

TEST_CASE("pods that want to be together follow the first of their kind") {
    auto cluster = three_zones();
    for (int i = 0; i < 4; ++i)
        cluster.pods.push_back(beside("p" + std::to_string(i), "cache", "cache", kZone));
    CHECK(pods_by_zone(cluster, solve(cluster)).size() == 1);
}

TEST_CASE("a pod waits in vain for a companion that does not exist") {
    auto cluster = snapshot();
    cluster.pods = {beside("lonely", "web", "database", kZone)};
    const auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons[0] ==
          "pool small: a new machine would not be near the pods that pod affinity requires (pods with label "
          "app=database, by topology.kubernetes.io/zone)");
}

TEST_CASE("a pod is placed beside a companion that comes later in the order") {
    auto cluster = three_zones();
    cluster.pods = {beside("large", "web", "database", kZone).requests({{"cpu", "4"}}),
                    pod("small", "database")};
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(pods_by_zone(cluster, result).size() == 1);
}

TEST_CASE("terms speak of the pod's own namespace unless they name others") {
    auto cluster = snapshot();
    auto other = pod("other", "db");
    other.pod.metadata.namespace_ = "elsewhere";
    cluster.nodes = {node("a")};
    cluster.nodes[0].pods = {other};
    auto here = apart("here", "web", "db", kHostname);
    cluster.pods = {here};
    CHECK(target_of(cluster, solve(cluster), "here") == "a");
    auto& wanted = here.affinity().podAntiAffinity->requiredDuringSchedulingIgnoredDuringExecution[0];
    wanted.namespaces = {"elsewhere"};
    cluster.pods = {here};
    CHECK(target_of(cluster, solve(cluster), "here") == "claim 0");
    wanted.namespaces.clear();
    wanted.namespaceSelector.emplace();
    cluster.pods = {here};
    CHECK(target_of(cluster, solve(cluster), "here") == "claim 0");
}

TEST_CASE("pods spread over hypervisor hosts that have no node yet") {
    auto cluster = three_zones();
    for (int i = 0; i < 6; ++i) cluster.pods.push_back(spread("p" + std::to_string(i), kZone));
    const auto zones = pods_by_zone(cluster, solve(cluster));
    CHECK(zones == std::map<std::string, std::size_t>{{"host-a", 2}, {"host-b", 2}, {"host-c", 2}});
}

TEST_CASE("a zone in which no machine can be had does not hold up a spread") {
    auto cluster = three_zones();
    cluster.places[2].free_machines = 0;
    for (int i = 0; i < 4; ++i) cluster.pods.push_back(spread("p" + std::to_string(i), kZone));
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(pods_by_zone(cluster, result) == std::map<std::string, std::size_t>{{"host-a", 2}, {"host-b", 2}});
}

TEST_CASE("minDomains makes pods wait until there are so many zones") {
    auto cluster = snapshot();
    for (int i = 0; i < 2; ++i) {
        auto each = spread("p" + std::to_string(i), kZone);
        each.pod.spec.topologySpreadConstraints->at(0).minDomains = 2;
        cluster.pods.push_back(each);
    }
    CHECK(solve(cluster).unplaced.size() == 1);
    cluster.pods.clear();
    for (int i = 0; i < 2; ++i) cluster.pods.push_back(spread("p" + std::to_string(i), kZone));
    CHECK(solve(cluster).unplaced.empty());
}

TEST_CASE("matchLabelKeys counts only pods of the same revision") {
    auto cluster = snapshot();
    cluster.nodes = {node_in("a", "host-a"), node_in("b", "host-b")};
    for (int i = 0; i < 3; ++i)
        cluster.nodes[0].pods.push_back(pod("old" + std::to_string(i), "web").label("revision", "1"));
    auto fresh = spread("new", kZone).label("revision", "2").select(kHostname, "a");
    auto& constraint = fresh.pod.spec.topologySpreadConstraints->at(0);
    constraint.nodeAffinityPolicy = api::NodeInclusionPolicy::Ignore;
    cluster.pods = {fresh};
    CHECK(solve(cluster).unplaced.size() == 1);
    constraint.matchLabelKeys = {"revision"};
    cluster.pods = {fresh};
    CHECK(target_of(cluster, solve(cluster), "new") == "a");
}

TEST_CASE("nodeAffinityPolicy decides whether zones that the pod cannot use count") {
    auto cluster = snapshot();
    cluster.nodes = {node_in("a", "host-a"), node_in("elsewhere", "host-b")};
    cluster.nodes[0].pods = {pod("first", "web")};
    edit(cluster.nodes[0]).metadata.labels["disk"] = "ssd";
    cluster.pools[0].closed = "is paused";
    for (const bool by_selector : {true, false}) {
        auto waiting = spread("second", kZone);
        if (by_selector)
            waiting.select("disk", "ssd");
        else
            waiting.require({in("disk", {"ssd"})});
        cluster.pods = {waiting};
        CHECK(target_of(cluster, solve(cluster), "second") == "a");
        waiting.pod.spec.topologySpreadConstraints->at(0).nodeAffinityPolicy =
            api::NodeInclusionPolicy::Ignore;
        cluster.pods = {waiting};
        CHECK(solve(cluster).unplaced.size() == 1);
    }
}

TEST_CASE("pods that differ only in where they may be are spread over different domains") {
    auto cluster = snapshot();
    cluster.nodes = {node_in("a", "host-a"), node_in("b", "host-b")};
    edit(cluster.nodes[0]).metadata.labels["disk"] = "ssd";
    cluster.nodes[0].pods = {pod("first", "web")};
    cluster.pools[0].closed = "is paused";
    // The larger pod comes first. Its result must not be reused for the other one.
    cluster.pods = {spread("bound", kZone).requests({{"cpu", "2"}}).select("disk", "ssd"),
                    spread("free", kZone)};
    const auto result = solve(cluster);
    CHECK(target_of(cluster, result, "bound") == "a");
    CHECK(target_of(cluster, result, "free") == "b");
}

TEST_CASE("matchLabelKeys of a pod affinity means companions with the pod's own value") {
    auto cluster = three_zones();
    cluster.nodes = {node_in("a", "host-a"), node_in("b", "host-b")};
    cluster.nodes[0].pods = {pod("old", "cache").label("revision", "1")};
    cluster.nodes[1].pods = {pod("new", "cache").label("revision", "2")};
    auto follower = beside("p", "web", "cache", kZone).label("revision", "2");
    auto& wanted = follower.affinity().podAffinity->requiredDuringSchedulingIgnoredDuringExecution[0];
    wanted.matchLabelKeys = {"revision"};
    cluster.pods = {follower};
    CHECK(target_of(cluster, solve(cluster), "p") == "b");
    follower.label("revision", "3");
    cluster.pods = {follower};
    CHECK(solve(cluster).unplaced.size() == 1);
    follower.pod.metadata.labels->erase("revision");  // the pod lacks this key, so it is ignored
    cluster.pods = {follower};
    CHECK(solve(cluster).unplaced.empty());
}

TEST_CASE("mismatchLabelKeys keeps a tenant's pods away from those of others only") {
    auto cluster = snapshot();
    cluster.nodes = {node("a", "1"), node("b", "2")};
    cluster.nodes[1].pods = {pod("other", "web").label("tenant", "blue")};
    auto own = apart("p", "web", "web", kHostname).label("tenant", "green");
    auto& avoided = own.affinity().podAntiAffinity->requiredDuringSchedulingIgnoredDuringExecution[0];
    avoided.mismatchLabelKeys = {"tenant"};
    cluster.pods = {own};
    CHECK(target_of(cluster, solve(cluster), "p") == "a");
    own.label("tenant", "blue");
    cluster.nodes.erase(cluster.nodes.begin());
    cluster.pods = {own};
    CHECK(target_of(cluster, solve(cluster), "p") == "b");
    own.label("tenant", "green");
    cluster.pods = {own};
    CHECK(target_of(cluster, solve(cluster), "p") == "claim 0");
}

TEST_CASE("nodeTaintsPolicy decides whether zones behind taints count") {
    auto cluster = snapshot();
    cluster.nodes = {node_in("a", "host-a"), node_in("tainted", "host-b")};
    cluster.nodes[0].pods = {pod("first", "web")};
    edit(cluster.nodes[1]).spec.taints = {taint("dedicated")};
    cluster.pools[0].closed = "is paused";
    auto waiting = spread("second", kZone);
    cluster.pods = {waiting};
    CHECK(solve(cluster).unplaced.size() == 1);
    waiting.pod.spec.topologySpreadConstraints->at(0).nodeTaintsPolicy = api::NodeInclusionPolicy::Honor;
    cluster.pods = {waiting};
    CHECK(target_of(cluster, solve(cluster), "second") == "a");
}

TEST_CASE("pods that terminate do not count in a spread, but still keep others apart") {
    auto cluster = snapshot();
    cluster.nodes = {node_in("a", "host-a"), node_in("b", "host-b")};
    auto going = pod("going", "web");
    going.pod.metadata.deletionTimestamp = api::Time::parse("2026-01-01T00:00:00Z");
    cluster.nodes[0].pods = {going};
    cluster.pools[0].closed = "is paused";
    cluster.pods = {spread("spread", kZone).select(kHostname, "a")};
    CHECK(target_of(cluster, solve(cluster), "spread") == "a");
    cluster.pods = {apart("apart", "db", "web", kHostname).select(kHostname, "a")};
    CHECK(solve(cluster).unplaced.size() == 1);
}

// "second" cannot use a new machine, so it shares the coming one. A further new machine would be a domain
// without any of the pods. The kube-scheduler would then keep "second" waiting for it.
TEST_CASE("no machine is launched that would invalidate a spread which was met without it") {
    auto cluster = snapshot();
    cluster.nodes = {node_in("coming", "host-a")};
    cluster.nodes[0].availability = scheduling::Availability::coming;
    edit(cluster.nodes[0]).metadata.labels["disk"] = "ssd";
    const auto on_ssd = [](const std::string& name) {
        auto each = spread(name, kHostname).select("disk", "ssd").label("role", name);
        each.pod.spec.topologySpreadConstraints->at(0).nodeAffinityPolicy = api::NodeInclusionPolicy::Ignore;
        return each;
    };
    auto follower = beside("follower", "other", "web", kZone).requests({{"cpu", "4"}});
    follower.affinity()
        .podAffinity->requiredDuringSchedulingIgnoredDuringExecution[0]
        .labelSelector->matchLabels = {{"role", "second"}};
    cluster.pods = {on_ssd("first").priority(1), on_ssd("second"), follower};
    auto result = solve(cluster);
    CHECK(target_of(cluster, result, "second") == "coming");
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons ==
          std::vector<std::string>{
              "pool small: a machine created now would break the topology spread of pods placed without it"});
    cluster.pods = {on_ssd("second"), follower};
    CHECK(solve(cluster).claims.size() == 1);
}

TEST_CASE("DaemonSets' pods of machines launched later count where they are counted in a spread") {
    auto cluster = snapshot();
    add_places(cluster, {"host-b"});
    auto set = std::make_shared<api::DaemonSet>();
    set->metadata.name = "agent";
    set->metadata.namespace_ = "default";
    set->metadata.uid = "uid-agent";
    set->spec.template_.metadata.labels["app"] = "web";
    set->spec.template_.spec.containers->emplace_back();
    cluster.daemon_sets = {set};
    cluster.nodes = {node_in("a", "host-a"), node_in("b", "host-b")};
    for (auto& each : cluster.nodes) each.availability = scheduling::Availability::coming;
    cluster.pods = {spread("p", kZone).priority(1)};
    CHECK(target_of(cluster, solve(cluster), "p") == "a");
    cluster.pods.push_back(pod("large", "other").requests({{"cpu", "8"}}).select(kZone, "host-a"));
    CHECK(target_of(cluster, solve(cluster), "p") == "b");
}

TEST_CASE("a host port is used once on a node, also by DaemonSets") {
    auto cluster = snapshot();
    const auto with_port = [](PodBuilder built) {
        auto& port = built.pod.spec.containers->at(0).ports.emplace_back();
        port.containerPort = port.hostPort = 8080;
        return built;
    };
    cluster.pods = {with_port(pod("a", "web")), with_port(pod("b", "web"))};
    CHECK(solve(cluster).claims.size() == 2);
    auto set = std::make_shared<api::DaemonSet>();
    set->metadata.name = "agent";
    set->metadata.uid = "uid-agent";
    set->spec.template_.spec = with_port(pod("agent", "agent")).pod.spec;
    cluster.daemon_sets = {set};
    const auto result = solve(cluster);
    CHECK(result.unplaced.size() == 2);
    CHECK(result.unplaced.at(0).reasons[0] ==
          "pool small: its DaemonSet agent uses host port 8080, which the pod needs");
}

TEST_CASE("host ports clash by protocol and address, and an unnamed address is all of them") {
    auto cluster = snapshot();
    cluster.pools[0].closed = "is paused";
    cluster.nodes = {node("a")};
    const auto with_port = [](const std::string& name, const std::string& protocol,
                              const std::string& address) {
        auto built = pod(name, "dns");
        built.pod.spec.containers->at(0).ports = {{53, 53, address, protocol}};
        return built;
    };
    const auto fits_beside = [&](const PodBuilder& running, const PodBuilder& waiting) {
        cluster.nodes[0].pods = {running};
        cluster.pods = {waiting};
        return solve(cluster).unplaced.empty();
    };
    const auto udp = with_port("udp", "UDP", "");
    CHECK(fits_beside(udp, with_port("p", "TCP", "")));
    CHECK(fits_beside(udp, with_port("p", "", "")));  // TCP
    CHECK(fits_beside(udp, with_port("p", "SCTP", "")));
    CHECK_FALSE(fits_beside(udp, with_port("p", "UDP", "")));
    CHECK_FALSE(fits_beside(udp, with_port("p", "UDP", "10.0.0.1")));
    const auto one = with_port("one", "UDP", "10.0.0.1");
    CHECK(fits_beside(one, with_port("p", "UDP", "10.0.0.2")));
    CHECK_FALSE(fits_beside(one, with_port("p", "UDP", "10.0.0.1")));
    CHECK_FALSE(fits_beside(one, with_port("p", "UDP", "0.0.0.0")));
    CHECK_FALSE(fits_beside(one, with_port("p", "UDP", "")));
}

TEST_CASE("what the scheduler can place on ready nodes now counts before anything is planned for later") {
    auto cluster = three_zones();
    cluster.nodes = {node_in("ready", "host-b")};
    edit(cluster.nodes[0]).status.allocatable["cpu"] = quantity("1");
    cluster.pods = {beside("large", "cache", "cache", kZone).requests({{"cpu", "4"}}), pod("small", "cache")};
    const auto result = solve(cluster);
    CHECK(target_of(cluster, result, "small") == "ready");
    CHECK(pods_by_zone(cluster, result) == std::map<std::string, std::size_t>{{"host-b", 1}});
}

// Otherwise it would be launched for at each look until the host is chosen.
TEST_CASE(
    "a pod with a spread over hosts waits for the machine that was launched for it, wherever that will be") {
    auto cluster = snapshot();
    cluster.nodes = {node("coming")};
    cluster.nodes[0].availability = scheduling::Availability::coming;
    cluster.nodes[0].launched_for = {"uid-web"};
    auto web = PodBuilder("web").label("app", "web");
    api::TopologySpreadConstraint spread;
    spread.maxSkew = 1;
    spread.topologyKey = api::labels::kZone;
    spread.labelSelector.emplace().matchLabels = {{"app", "web"}};
    web.pod.spec.topologySpreadConstraints = {spread};
    cluster.pods = {web};
    CHECK(solve(cluster).claims.size() == 1);
    cluster.nodes[0].is_unplaced = true;
    CHECK(target_of(cluster, solve(cluster), "web") == "coming");
}

TEST_CASE("the reason names the rule about other pods, its key and what it asks for") {
    auto cluster = three_zones();
    for (int i = 0; i < 4; ++i) cluster.pods.push_back(apart("p" + std::to_string(i), "db", "db", kZone));
    auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons[0] ==
          "pool small: pod anti-affinity excludes every place where it could create a machine (pods with "
          "label app=db, by topology.kubernetes.io/zone)");

    cluster.pods = {spread("a", "rack"), spread("b", kZone)};
    result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons[0] ==
          "pool small: its nodes have no label rack, which the pod's topology spread constraint needs: if "
          "they should have it, add it to machineTemplate.labels of the pool");

    cluster = snapshot();
    cluster.nodes = {node_in("busy", "host-a")};
    cluster.nodes[0].pods = {apart("hermit", "hermit", "web", kZone)};
    cluster.pods = {pod("web", "web")};
    result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons[0] ==
          "pool small: pod anti-affinity of pod default/hermit on node busy (by topology.kubernetes.io/zone) "
          "excludes every place where it could create a machine");

    // Only this pod keeps others away from new machines. One of them keeps others off its own node, and one
    // is elsewhere.
    cluster.nodes = {node_in("own", "host-a"), node_in("far", "host-z"), node_in("busy", "host-a")};
    cluster.nodes[0].pods = {apart("alone", "alone", "web", "kubernetes.io/hostname")};
    cluster.nodes[1].pods = {apart("abroad", "abroad", "web", kZone)};
    cluster.nodes[2].pods = {apart("hermit", "hermit", "web", kZone)};
    CHECK(solve(cluster).unplaced[0].reasons == result.unplaced[0].reasons);
}

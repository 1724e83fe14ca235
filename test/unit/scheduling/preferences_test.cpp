// Tests preferences of pods, and when they are given up.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

const std::string kZone(api::labels::kZone);
const std::string kHostname(api::labels::kHostname);

PodBuilder prefers(PodBuilder built, std::int32_t weight, const api::SelectorRequirement& requirement) {
    auto& affinity = built.affinity().nodeAffinity;
    if (!affinity) affinity.emplace();
    auto& term = affinity->preferredDuringSchedulingIgnoredDuringExecution.emplace_back();
    term.weight = weight;
    term.preference.matchExpressions = {requirement};
    return built;
}

PodBuilder prefers_to_be_alone(PodBuilder built, const std::string& key) {
    auto& affinity = built.label("app", "web").affinity().podAntiAffinity;
    if (!affinity) affinity.emplace();
    auto& weighted = affinity->preferredDuringSchedulingIgnoredDuringExecution.emplace_back();
    weighted.weight = 1;
    weighted.podAffinityTerm.topologyKey = key;
    weighted.podAffinityTerm.labelSelector.emplace().matchLabels["app"] = "web";
    return built;
}

std::string zone_of(const scheduling::Snapshot& cluster, const scheduling::SolveResult& result) {
    return cluster.places[result.claims.at(0).place].name;
}

}  // namespace

TEST_CASE("a machine is launched where the pod prefers it") {
    auto cluster = snapshot();
    add_places(cluster, {"host-b"});
    cluster.pods = {prefers(PodBuilder("p"), 1, in(kZone, {"host-b"}))};
    CHECK(zone_of(cluster, solve(cluster)) == "host-b");
    cluster.preferences = scheduling::PreferencePolicy::ignore;
    CHECK(zone_of(cluster, solve(cluster)) == "host-a");
}

TEST_CASE("preferences that contradict each other are given up one at a time, the weakest first") {
    auto cluster = snapshot();
    add_places(cluster, {"host-b", "host-c"});
    auto pod = prefers(PodBuilder("p"), 10, in(kZone, {"host-b", "host-c"}));
    pod = prefers(pod, 5, in(kZone, {"host-a"}));
    cluster.pods = {prefers(pod, 1, in(kZone, {"host-a", "host-c"}))};
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(zone_of(cluster, result) == "host-c");
}

TEST_CASE("pods that would like to be alone get machines of their own as far as limits allow") {
    auto cluster = snapshot();
    for (int i = 0; i < 3; ++i)
        cluster.pods.push_back(prefers_to_be_alone(PodBuilder("p" + std::to_string(i)), kHostname));
    CHECK(solve(cluster).claims.size() == 3);
    cluster.budgets = {{"limits.maxNodes", 2, {}, {}}};
    cluster.pools[0].budgets = {0};
    const auto result = solve(cluster);
    CHECK(result.claims.size() == 2);
    CHECK(result.unplaced.empty());
}

TEST_CASE("where preferences only choose, pods that would like to be alone share a machine") {
    auto cluster = snapshot();
    cluster.preferences = scheduling::PreferencePolicy::where_free;
    for (int i = 0; i < 3; ++i)
        cluster.pods.push_back(prefers_to_be_alone(PodBuilder("p" + std::to_string(i)), kHostname));
    CHECK(solve(cluster).claims.size() == 1);
    cluster.nodes = {node("a"), node("b")};
    const auto result = solve(cluster);
    CHECK(result.claims.empty());
    CHECK(target_of(cluster, result, "p0") != target_of(cluster, result, "p1"));
}

TEST_CASE("where preferences only choose, a machine that is needed anyway is the preferred one") {
    auto cluster = snapshot();
    add_places(cluster, {"host-b"});
    cluster.preferences = scheduling::PreferencePolicy::where_free;
    cluster.pods = {prefers(PodBuilder("p"), 1, in(kZone, {"host-b"}))};
    CHECK(zone_of(cluster, solve(cluster)) == "host-b");
}

TEST_CASE("where preferences only choose, requirements still cause machines") {
    auto cluster = snapshot();
    add_places(cluster, {"host-b"});
    cluster.preferences = scheduling::PreferencePolicy::where_free;
    auto wants_another = prefers(PodBuilder("p"), 1, in(kZone, {"host-a"}));
    cluster.pods = {PodBuilder("other").require({in(kZone, {"host-a"})}),
                    wants_another.require({in(kZone, {"host-b"})})};
    CHECK(solve(cluster).claims.size() == 2);
}

TEST_CASE("nothing is launched for a preference while a node fits without it") {
    auto cluster = snapshot();
    cluster.nodes = {node("plain")};
    cluster.pods = {prefers(PodBuilder("p"), 100, in(kZone, {"host-a"}))};
    const auto result = solve(cluster);
    CHECK(result.claims.empty());
    CHECK(target_of(cluster, result, "p") == "plain");
}

TEST_CASE("a pool that only asks to stay away is used last") {
    auto cluster = snapshot();
    cluster.pools = {pool("a"), pool("b")};
    cluster.pools[0].taints = {taint("slow", api::taints::kPreferNoSchedule)};
    cluster.pods = {PodBuilder("p")};
    CHECK(solve(cluster).claims.at(0).pool == 1);
    cluster.pools[1].closed = "is paused";
    CHECK(solve(cluster).claims.at(0).pool == 0);
}

TEST_CASE("a spread that pods would only like is kept while that is possible") {
    auto cluster = snapshot();
    add_places(cluster, {"host-b"});
    for (int i = 0; i < 4; ++i) {
        auto pod = PodBuilder("p" + std::to_string(i)).label("app", "web");
        auto& constraint = pod.pod.spec.topologySpreadConstraints->emplace_back();
        constraint.topologyKey = kZone;
        constraint.whenUnsatisfiable = api::UnsatisfiableConstraintAction::ScheduleAnyway;
        constraint.labelSelector.emplace().matchLabels["app"] = "web";
        cluster.pods.push_back(pod);
    }
    auto result = solve(cluster);
    REQUIRE(result.claims.size() == 2);
    CHECK(result.claims[0].pods.size() == 2);
    cluster.places[1].free_machines = 0;
    result = solve(cluster);
    CHECK(result.claims.size() == 1);
    CHECK(result.unplaced.empty());
}

// Tests places that depend on the order of placement: a pod's spread may count other pods that have no place
// yet.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

PodBuilder found(const std::string& name) {
    return PodBuilder(name, "1", "1Gi").label("app", "web");
}

PodBuilder spread(const std::string& name, std::string_view key) {
    auto built = found(name);
    auto& constraint = built.pod.spec.topologySpreadConstraints->emplace_back();
    constraint.topologyKey = key;
    constraint.maxSkew = 1;
    constraint.labelSelector.emplace().matchLabels["app"] = "web";
    return built;
}

std::string numbered(const std::string& name, int number) {
    return name + std::to_string(number);
}

}  // namespace

TEST_CASE("who another's spread over zones finds goes where that one may still be placed last") {
    auto cluster = snapshot();
    add_places(cluster, {"host-b", "host-c"});
    for (int i = 0; i < 3; ++i) cluster.pods.push_back(spread(numbered("spread-", i), api::labels::kZone));
    for (int i = 0; i < 6; ++i) cluster.pods.push_back(found(numbered("found-", i)));
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 3);
    for (const auto& claim : result.claims) CHECK(claim.pods.size() == 3);
}

TEST_CASE("a node that comes is left to pods of a spread where a machine is launched anyway") {
    auto cluster = snapshot();
    auto coming = node("coming");
    coming.availability = scheduling::Availability::coming;
    coming.pool = 0;
    cluster.nodes = {coming};
    cluster.pods.push_back(spread("spread", api::labels::kHostname));
    cluster.pods.push_back(PodBuilder("large", "8", "8Gi").label("app", "other"));
    cluster.pods.push_back(found("found"));
    const auto result = solve(cluster);
    CHECK(target_of(cluster, result, "spread") == "coming");
    CHECK(target_of(cluster, result, "found") == target_of(cluster, result, "large"));
}

TEST_CASE("no machine is launched for the order of others") {
    auto cluster = snapshot();
    cluster.pools[0].shapes.push_back({"only", 4, 8192});
    for (int i = 0; i < 2; ++i)
        cluster.pods.push_back(spread(numbered("spread-", i), api::labels::kHostname));
    for (int i = 0; i < 6; ++i) cluster.pods.push_back(found(numbered("found-", i)));
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(result.claims.size() == 2);
}

#include "controllers/cache/membership.hpp"

#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

using namespace controllers;

namespace {

std::string manager_name(const api::ObjectKey& pool, const std::vector<objects::NodeSmithControlPlane>& all) {
    const auto store = objects::store_of(all);
    const auto* manager = manager_of(pool, store);
    return manager ? manager->metadata.name : "";
}

}  // namespace

TEST_CASE("a pool that no control plane of its namespace lists is not managed") {
    auto elsewhere = objects::control_plane("all", {"*"});
    elsewhere.metadata.namespace_ = "other";
    CHECK(manager_name({"default", "small"}, {}).empty());
    CHECK(manager_name({"default", "small"}, {elsewhere, objects::control_plane("a", {"big"})}).empty());
    CHECK(manager_name({"default", "big"}, {elsewhere, objects::control_plane("a", {"big"})}) == "a");
    CHECK(manager_name({"other", "big"}, {elsewhere}) == "all");
}

TEST_CASE("of several control planes the one that names the pool manages it, then the older") {
    auto star = objects::control_plane("star", {"*"});
    auto younger = objects::control_plane("a-younger", {"small"});
    auto older = objects::control_plane("older", {"small"});
    younger.metadata.creationTimestamp = objects::at(std::chrono::seconds{5});
    CHECK(manager_name({"default", "small"}, {star, younger}) == "a-younger");
    CHECK(manager_name({"default", "small"}, {star, younger, older}) == "older");
    older.metadata.deletionTimestamp = objects::kStart;
    CHECK(manager_name({"default", "small"}, {star, younger, older}) == "a-younger");
    CHECK(manager_name({"default", "other"}, {star, younger, older}) == "star");
}

TEST_CASE("a control plane's pools are those it manages and that exist") {
    const auto star = objects::control_plane("star", {"*"});
    const auto named = objects::control_plane("named", {"b", "missing"});
    const auto control_planes = objects::store_of<objects::NodeSmithControlPlane>({star, named});
    const auto pools = objects::store_of<objects::NodeSmithPool>(
        {objects::pool("a"), objects::pool("b"), objects::pool("c"), objects::pool("a", "other")});
    std::string of_star;
    for (const auto* pool : pools_of(star, pools, control_planes)) of_star += pool->metadata.name;
    CHECK(of_star == "ac");
    REQUIRE(pools_of(named, pools, control_planes).size() == 1);
}

TEST_CASE("of two pools with the same label value the younger has the conflict") {
    auto older = objects::pool("small");
    auto younger = objects::pool("small", "other");
    younger.metadata.creationTimestamp = objects::at(std::chrono::seconds{1});
    auto other_key = objects::pool("small", "third");
    other_key.spec.poolLabelKey = "example.com/pool";
    const auto pools =
        objects::store_of<objects::NodeSmithPool>({older, younger, other_key, objects::pool("big")});
    CHECK(label_conflict(older, pools) == nullptr);
    REQUIRE(label_conflict(younger, pools));
    CHECK(label_conflict(younger, pools)->metadata.namespace_ == "default");
    CHECK(label_conflict(other_key, pools) == nullptr);
}

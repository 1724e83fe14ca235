// plan refuses wrong input, as kubectl apply refuses it.
#include "test/support/catch.hpp"
#include "test/unit/plan/picture.hpp"

using namespace test;
using Catch::Contains;

namespace {

std::string pool(const std::string& kind, const std::string& spec) {
    return "apiVersion: kubenodesmith.parawell.cloud/v1alpha1\nkind: " + kind +
           "\nmetadata: {name: small, namespace: ours}\nspec: " + spec + "\n";
}

}  // namespace

TEST_CASE("a kind of ours with a typing error is refused, with those that there are") {
    CHECK_THROWS_WITH(picture({pool("NodeSmithPol", "{providerRef: shed}")}),
                      Contains("there is no kind NodeSmithPol") && Contains("NodeSmithPool"));
}

TEST_CASE("a field of ours with a typing error is refused, with those that there are") {
    CHECK_THROWS_WITH(
        picture({pool("NodeSmithPool", "{providerRef: shed, limits: {maxNode: 2}}")}),
        Contains("NodeSmithPool ours/small: unknown field spec.limits.maxNode;") && Contains("maxNodes"));
    CHECK_THROWS_WITH(picture({pool("NodeSmithPool",
                                    "{providerRef: shed, machineTemplate: {sizes: [{name: m, cores: 2}]}}")}),
                      Contains("unknown field spec.machineTemplate.sizes[0].cores"));
}

TEST_CASE("labels and settings of free form have no unknown fields") {
    CHECK_NOTHROW(picture(
        {pool("NodeSmithPool", "{providerRef: shed, machineTemplate: {labels: {example.org/any: thing}}}")}));
}

TEST_CASE("values of a chart are no objects") {
    CHECK_THROWS_WITH(picture({"image: {tag: latest}\nreplicas: 2\n"}), Contains("no Kubernetes object"));
}

TEST_CASE("an object of a cluster may have fields of a newer version") {
    auto stored = pool("NodeSmithPool", "{providerRef: shed, future: 1}");
    stored.insert(stored.find("namespace:"), "uid: pool-9, ");
    CHECK_NOTHROW(picture({stored}));
}

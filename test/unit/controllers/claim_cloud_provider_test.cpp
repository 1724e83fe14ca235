// Tests the decisions of a claim beside a cloud controller manager, which initializes the same Nodes.
#include "test/unit/controllers/claim_scene.hpp"

namespace {

using namespace test;

TEST_CASE("a Node that a cloud controller manager is to initialize serves when that has been there") {
    Scene scene;
    scene.registered();
    scene.node->spec.taints = {
        {std::string(api::taints::kUninitialized), "true", "NoSchedule", std::nullopt}};
    const auto awaited = condition(scene.decide().status, conditions::kInitialized);
    CHECK(awaited.reason == reasons::kCloudProviderAwaited);
    CHECK_THAT(awaited.message, Catch::Contains("node.cloudprovider.kubernetes.io/uninitialized") &&
                                    Catch::Contains("cloud controller manager"));
    CHECK(scene.decide().step == Step::nothing);
    scene.now = at(900s);
    CHECK_THAT(scene.decide().status.lastFailure->message, Catch::Contains("cloud controller manager"));
    scene.now = at(0s);
    scene.node->spec.taints.clear();
    scene.node->spec.providerID = "proxmox://cluster-1/100";  // by the rules of the cloud controller manager
    CHECK(condition(scene.decide().status, conditions::kInitialized).reason == reasons::kInitialized);
    CHECK(scene.decide().step == Step::nothing);
}

TEST_CASE("in service: a region that the provider names later reaches the Node") {
    Scene scene;
    scene.in_service();
    CHECK(scene.decide().step == Step::nothing);
    if (!scene.provider.spec.proxmox) scene.provider.spec.proxmox.emplace();
    scene.provider.spec.proxmox->region = "home-1";
    CHECK(scene.decide().step == Step::put_back);
    scene.node->metadata.labels["topology.kubernetes.io/region"] = "elsewhere";
    CHECK(scene.decide().step == Step::nothing);
}

}  // namespace

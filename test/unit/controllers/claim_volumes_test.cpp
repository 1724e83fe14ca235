// Tests the removal of a claim with volumes on its Node, with the reconciler against a cluster and a cloud in
// memory.
#include "test/support/catch.hpp"
#include "test/support/pods.hpp"
#include "test/unit/controllers/claim_world.hpp"

namespace {

using namespace claims;
using namespace std::chrono_literals;
namespace conditions = api::conditions;

TEST_CASE("volumes are waited for, but not those of pods that stay until the machine is off") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    auto attach = [&world](const std::string& volume) {
        api::VolumeAttachment attachment;
        attachment.metadata.name = "csi-" + volume;
        attachment.spec.nodeName = "c";
        attachment.spec.source.persistentVolumeName = volume;
        attachment.status.attached = true;
        world.server.put(attachment);
    };
    attach("of-daemon");
    attach("of-web");
    api::PersistentVolumeClaim bound;
    bound.metadata.name = "data";
    bound.metadata.namespace_ = "default";
    bound.spec.volumeName = "of-daemon";
    world.server.put(bound);
    api::DaemonSet set;
    set.metadata.name = "d";
    set.metadata.namespace_ = "default";
    set = world.server.put(set);
    world.server.put<api::Pod>(
        builders::a_pod("daemon").owner("DaemonSet", set.metadata.uid).mount("data").on("c"));
    world.server.remove<NodeSmithClaim>(kClaim);
    REQUIRE(world.run_until([&] { return world.reason(conditions::kVolumesDetached) == "VolumesAttached"; },
                            1min));
    world.run(30s);
    CHECK(world.cloud.machines.size() == 1);
    world.server.remove<api::VolumeAttachment>({"", "csi-of-web"});
    CHECK(world.run_until([&] { return world.gone(); }, 30s));
}

}  // namespace

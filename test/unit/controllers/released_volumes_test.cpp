// Tests when the place of a volume that is attached without a pod counts as taken.
#include "controllers/provisioning/cluster_objects.hpp"

#include "test/support/catch.hpp"
#include "test/support/pods.hpp"
#include "test/unit/controllers/cluster.hpp"

using namespace std::chrono_literals;

namespace {

// World has a volume that is attached to a node.
struct World : test::Cluster {
    World() {
        api::PersistentVolume volume;
        volume.metadata.name = "pv";
        volume.spec.claimRef.emplace();
        volume.spec.claimRef->namespace_ = "default";
        volume.spec.claimRef->name = "data";
        server.put(volume);
        api::VolumeAttachment attachment;
        attachment.metadata.name = "csi-pv";
        attachment.spec.nodeName = "node";
        attachment.spec.source.persistentVolumeName = "pv";
        attachment.status.attached = true;
        server.put(attachment);
        start();
        run_for(1s);
    }
    ~World() { stop(); }

    api::Time now() const { return api::Time(clock.wall_now()); }
    bool is_taken() {
        scheduling::Snapshot snapshot;
        controllers::provisioning::add_cluster_objects(snapshot, informers, now());
        return !snapshot.volumes.attachments.empty();
    }
    std::optional<std::chrono::seconds> look_again() {
        const auto next = controllers::provisioning::next_hanging_detachment(informers, now());
        if (!next) return std::nullopt;
        return std::chrono::round<std::chrono::seconds>(next->at - now().at);
    }
    void put_user(const std::string& name) {
        auto pod = test::a_pod(name).on("node").pod;
        auto& volume = pod.spec.volumes->emplace_back();
        volume.persistentVolumeClaim.emplace();
        volume.persistentVolumeClaim->claimName = "data";
        server.put(pod);
        run_for(1s);
    }
};

}  // namespace

TEST_CASE("a volume is given time to be detached after its pod has left") {
    World world;
    world.put_user("db");
    world.run_for(10min);
    CHECK(world.is_taken());
    CHECK_FALSE(world.look_again());
    SECTION("because it was deleted") {
        world.server.remove<api::Pod>({"default", "db"}, 0);
    }
    SECTION("because it ended") {
        world.server.edit<api::Pod>({"default", "db"},
                                    [](api::Pod& pod) { pod.status.phase = api::PodPhase::Succeeded; });
    }
    world.run_for(1s);
    CHECK_FALSE(world.is_taken());
    CHECK(world.look_again() == 119s);
    world.run_for(119s);
    CHECK(world.is_taken());
    CHECK_FALSE(world.look_again());
}

TEST_CASE("a volume is given time to be detached after its detachment has begun") {
    World world;
    world.put_user("db");
    world.server.remove<api::Pod>({"default", "db"}, 0);
    world.run_for(3min);
    world.server.edit<api::VolumeAttachment>({"", "csi-pv"}, [](api::VolumeAttachment& attachment) {
        attachment.metadata.finalizers = {"external-attacher/csi-test"};
    });
    CHECK(world.is_taken());
    world.server.remove<api::VolumeAttachment>({"", "csi-pv"});
    world.run_for(1s);
    CHECK_FALSE(world.is_taken());
    world.run_for(2min);
    CHECK(world.is_taken());
}

TEST_CASE("a new operator gives volumes without pods time to be detached") {
    World world;
    CHECK_FALSE(world.is_taken());
    world.run_for(2min);
    CHECK(world.is_taken());
}

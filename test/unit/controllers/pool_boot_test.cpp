// A pool whose machines would never join reports it before anybody waits for them.
#include "controllers/pool_reconciler.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/cluster.hpp"

using namespace std::chrono_literals;
using api::v1alpha1::BootstrapMethod;
using objects::NodeSmithControlPlane;
using objects::NodeSmithPool;
using objects::NodeSmithProvider;

namespace {

struct World : test::Cluster {
    controllers::PoolReconciler pools{{informers, client, clock, events, metrics}, reservations};

    explicit World(BootstrapMethod method) {
        put_basics();
        server.edit<NodeSmithProvider>({"default", "proxmox"},
                                       [](auto& provider) { provider.spec.proxmox.emplace(); });
        auto pool = objects::pool("small");
        pool.spec.bootstrap.emplace().method = method;
        server.put(pool);
        add("pool", pools);
        start();
        run_for(1s);
    }
    ~World() { stop(); }

    std::string complaint() {
        const auto object = pool();
        const auto* found = api::find_condition(object.status.conditions, "ConfigurationValid");
        if (!found) return "";
        CHECK(found->status == api::ConditionStatus::False);
        CHECK(found->reason == "NothingToBoot");
        return found->message;
    }
    void set_option(const std::string& name, const std::string& value) {
        server.edit<NodeSmithProvider>({"default", "proxmox"}, [&](auto& provider) {
            provider.spec.proxmox->vmOptions.push_back({name, boost::json::value(value)});
        });
        run_for(1s);
    }
};

}  // namespace

TEST_CASE("blank machines that are to join by cloud-init are complained of, with the remedy") {
    World world(BootstrapMethod::CloudInit);
    CHECK_THAT(world.complaint(), Catch::Contains("spec.proxmox.template") && Catch::Contains("order=net0"));
    CHECK(world.events.count("NothingToBoot") == 1);
    world.run_for(1h);
    CHECK(world.events.count("NothingToBoot") == 1);
}

TEST_CASE("an argument of the kubelet that is not the pool's to set is complained of by its field") {
    World world(BootstrapMethod::CloudInit);
    const auto told = [&world] {
        const auto object = world.pool();
        const auto* found = api::find_condition(object.status.conditions, "ConfigurationValid");
        return found ? found->reason + ": " + found->message : std::string();
    };
    world.server.edit<NodeSmithPool>({"default", "small"}, [](auto& pool) {
        pool.spec.bootstrap->kubelet.emplace().extraArgs = {{"node-labels", "a=b"}};
    });
    world.run_for(1s);
    CHECK_THAT(told(), Catch::StartsWith("BootstrapInvalid: bootstrap.kubelet.extraArgs: node-labels"));
    CHECK(world.events.count("BootstrapInvalid") == 1);
    world.server.edit<NodeSmithPool>({"default", "small"},
                                     [](auto& pool) { pool.spec.bootstrap->kubelet->extraArgs.clear(); });
    world.run_for(1s);
    CHECK_THAT(told(), Catch::StartsWith("NothingToBoot"));
}

TEST_CASE("the complaint ends when a template is named") {
    World world(BootstrapMethod::GuestAgent);
    CHECK_THAT(world.complaint(), Catch::Contains("guest agent"));
    world.server.edit<NodeSmithProvider>({"default", "proxmox"}, [](auto& provider) {
        provider.spec.proxmox->template_.emplace().name = "debian-12-kubernetes";
    });
    world.run_for(1s);
    CHECK(world.complaint().empty());
}

TEST_CASE("what the network, a CD or an imported disk boots may join") {
    World world(BootstrapMethod::CloudInit);
    SECTION("network") {
        world.set_option("boot", "order=net0");
    }
    SECTION("CD") {
        world.set_option("ide2", "local:iso/installer.iso,media=cdrom");
    }
    SECTION("disk") {
        world.set_option("scsi0", "local-lvm:0,import-from=local:import/debian.qcow2");
    }
    CHECK(world.complaint().empty());
}

TEST_CASE("machines that join by themselves need nothing of ours") {
    World world(BootstrapMethod::None);
    CHECK(world.complaint().empty());
}

TEST_CASE("the way to join that the control plane says counts for pools that say none") {
    World world(BootstrapMethod::None);
    world.server.edit<NodeSmithPool>({"default", "small"}, [](auto& pool) { pool.spec.bootstrap.reset(); });
    world.server.edit<NodeSmithControlPlane>({"default", "main"}, [](auto& manager) {
        manager.spec.bootstrap.emplace().method = BootstrapMethod::CloudInit;
    });
    world.run_for(1s);
    CHECK_FALSE(world.complaint().empty());
}

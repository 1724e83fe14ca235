// Tests volumes of Proxmox' CSI plugin, which ask for region and zone of a Node.
#include "test/support/catch.hpp"
#include "test/unit/controllers/provisioning_world.hpp"

using namespace std::chrono_literals;
using objects::NodeSmithProvider;
using World = test::ProvisioningWorld;

TEST_CASE("what asks for a region gets a machine where the provider is in it") {
    World world(World::fixed_size_pool());
    world.put_pending(test::a_pod("a")
                          .requesting("1", "1Gi")
                          .select("topology.kubernetes.io/region", "home-1")
                          .select("topology.kubernetes.io/zone", "pve1"));
    world.run_for(5s);
    CHECK(world.claims().empty());
    world.server.edit<NodeSmithProvider>({"default", "proxmox"}, [](NodeSmithProvider& provider) {
        if (!provider.spec.proxmox) provider.spec.proxmox.emplace();
        provider.spec.proxmox->region = "home-1";
    });
    world.run_for(1min);
    CHECK(world.claims().size() == 1);
}

// Tests MAC addresses of machines. The same machine always gets the same one, and no two of our machines
// share one.
#include "controllers/claim/act/mac_addresses.hpp"

#include <set>

#include "test/support/catch.hpp"
#include "test/unit/controllers/cluster.hpp"

using namespace std::chrono_literals;
using api::v1alpha1::BootstrapMethod;
using controllers::claim::MacAddresses;
using controllers::claim::WishedInterface;

namespace {

struct World : test::Cluster {
    MacAddresses addresses{informers};
    std::size_t claims = 0;

    World() {
        put_basics();
        server.put(objects::pool("small"));
        start();
    }
    objects::NodeSmithClaim put_claim() {
        auto claim = objects::claim("claim-" + std::to_string(++claims), pool());
        claim.status.systemUUID = "uuid-" + std::to_string(claims);
        server.put(claim);
        run_for(10ms);
        return *server.get<objects::NodeSmithClaim>({"default", claim.metadata.name});
    }
    void record(const objects::NodeSmithClaim& claim,
                const std::vector<api::v1alpha1::ClaimInterface>& chosen) {
        server.edit<objects::NodeSmithClaim>({"default", claim.metadata.name},
                                             [&](auto& edited) { edited.status.networkInterfaces = chosen; });
        run_for(10ms);
    }
};

}  // namespace

TEST_CASE("a machine has the same MAC addresses whenever asked, one for each interface") {
    World world;
    const std::vector<WishedInterface> wished{
        {"net0", "BC:24:11", ""}, {"net1", "", ""}, {"net2", "", "02:00:00:00:00:07"}};
    const auto claim = world.put_claim();
    const auto chosen = world.addresses.choose(claim, wished);
    REQUIRE(chosen);
    CHECK(chosen->at(0).macAddress.starts_with("BC:24:11:"));
    CHECK(chosen->at(1).macAddress.substr(0, 8) != chosen->at(0).macAddress.substr(0, 8));
    CHECK(chosen->at(2).macAddress == "02:00:00:00:00:07");
    CHECK(world.addresses.choose(claim, wished) == chosen);
    CHECK(MacAddresses(world.informers).choose(claim, wished) == chosen);
}

TEST_CASE("where a prefix leaves few MAC addresses each machine gets another one, until none is left") {
    World world;
    const std::vector<WishedInterface> wished{{"net0", "BC:24:11:00:00", ""}};
    std::set<std::string> given;
    for (int i = 0; i < 256; ++i) {
        const auto claim = world.put_claim();
        const auto chosen = world.addresses.choose(claim, wished);
        REQUIRE(chosen);
        CHECK(given.insert(chosen->front().macAddress).second);
        // Some claims are recorded late, so the choice must be remembered.
        if (i % 3 != 0) world.record(claim, *chosen);
    }
    CHECK_FALSE(world.addresses.choose(world.put_claim(), wished));
}

TEST_CASE("lines of keys are taken without what Windows ends them with") {
    CHECK(controllers::claim::lines_of("ssh-ed25519 A me\r\n\r\nssh-ed25519 B you \r\n") ==
          std::vector<std::string>{"ssh-ed25519 A me", "ssh-ed25519 B you"});
}

TEST_CASE(
    "interfaces whose MAC addresses are to be known are those of the provider, and those that are told of") {
    controllers::claim::Observation seen;
    objects::NodeSmithProvider provider;
    auto& proxmox = provider.spec.proxmox.emplace();
    proxmox.template_.emplace().name = "debian";
    proxmox.networkInterfaces = {{"net0", "virtio", "vmbr0", {}, "BC:24:11"}};
    proxmox.vmOptions = {
        {"net1", "virtio=bc:24:11:00:00:09,bridge=vmbr1"}, {"net2", "virtio,bridge=vmbr2"}, {"numa", 1}};
    auto pool = objects::pool("small");
    auto& network = pool.spec.machineTemplate.network.emplace();
    network.interfaces.emplace_back().name = "net3";
    seen.provider = std::make_shared<const objects::NodeSmithProvider>(provider);
    seen.pool = std::make_shared<const objects::NodeSmithPool>(pool);
    const auto names = [&](BootstrapMethod method) {
        std::string all;
        for (const auto& wish : wished_interfaces(seen, method))
            all += wish.name + "(" + wish.mac_prefix + wish.mac_address + ") ";
        return all;
    };
    CHECK(names(BootstrapMethod::CloudInit) == "net0(BC:24:11) net1(BC:24:11:00:00:09) net2() net3() ");
    CHECK(names(BootstrapMethod::None) == "net0(BC:24:11) net1(BC:24:11:00:00:09) net2() ");
    CHECK_FALSE(network_obstacle(seen, BootstrapMethod::CloudInit));
    CHECK_FALSE(network_obstacle(seen, BootstrapMethod::None));
    network.mtu = 1450;
    seen.pool = std::make_shared<const objects::NodeSmithPool>(pool);
    CHECK_FALSE(network_obstacle(seen, BootstrapMethod::CloudInit));
    CHECK(network_obstacle(seen, BootstrapMethod::GuestAgent));
    provider.spec.proxmox.reset();
    seen.provider = std::make_shared<const objects::NodeSmithProvider>(provider);
    CHECK(network_obstacle(seen, BootstrapMethod::CloudInit));
    CHECK(names(BootstrapMethod::CloudInit).empty());
}

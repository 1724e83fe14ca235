// Tests claims whose machines have static addresses.
#include "test/support/catch.hpp"
#include "test/support/cluster_info.hpp"
#include "test/unit/bootstrap/certificate.hpp"
#include "test/unit/controllers/claim_world.hpp"

using namespace claims;
using namespace api::v1alpha1;
namespace conditions = api::conditions;

TEST_CASE("a claim that lost its address to the end of an older one of its name takes it again") {
    World world;
    world.server.put(test::cluster_info(test::kCACertificate));
    world.server.edit<NodeSmithPool>({"default", "p"}, [](NodeSmithPool& pool) {
        pool.spec.bootstrap.emplace().method = BootstrapMethod::CloudInit;
        auto& network = pool.spec.machineTemplate.network.emplace();
        network.mode = NetworkMode::Static;
        network.addresses = {"10.0.4.50-10.0.4.59"};
    });
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return !world.claim()->status.machineID.empty(); }));
    world.server.edit<NodeSmithPool>({"default", "p"},
                                     [](NodeSmithPool& pool) { pool.status.addresses.clear(); });
    REQUIRE(world.run_until([&] {
        const auto* launched = world.condition(conditions::kLaunched);
        return launched && launched->status == api::ConditionStatus::True;
    }));
    const auto pool = world.server.get<NodeSmithPool>({"default", "p"});
    REQUIRE(pool->status.addresses.size() == 1);
    CHECK(world.claim()->status.addresses == std::vector{pool->status.addresses.front().address});
}

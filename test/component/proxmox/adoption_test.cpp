// Tests VMs that the Go project's operator made: they are taken over or left alone.
#include "providers/capabilities.hpp"
#include "providers/launch.hpp"

#include "test/component/proxmox/lab.hpp"

using namespace providers;
using Catch::Contains;
using test::Lab;

namespace {

// Legacy has a VM as the Go operator leaves it: the claim's name, the provider's tag, and a UUID that Proxmox
// made.
struct Legacy {
    Lab lab;
    MachineSpec spec = lab.machine(1);

    Legacy() {
        spec.identity.system_uuid = "7C9E6679-7425-40DE-944B-E07FC1F90AE7";  // as a Node reports it
        lab.plant(1500, "porsche", config());
        lab.wait(std::chrono::seconds{15});
    }
    proxmox_simulator::Config config() const {
        return {{"name", spec.name},
                {"tags", "kubenodesmith-managed"},
                {"memory", "4096"},
                {"cores", "2"},
                {"description", "made by hand"},
                {"smbios1", "uuid=7c9e6679-7425-40de-944b-e07fc1f90ae7"}};
    }
    AdoptResult adopt() {
        auto* adopter = lab.provider->capabilities().adopter;
        REQUIRE(adopter);
        return lab.run(adopter->adopt(spec.identity));
    }
    std::string refusal() {
        const auto result = adopt();
        REQUIRE(std::holds_alternative<NotAdopted>(result));
        CHECK(lab.count("PUT|POST|DELETE", ".*") == 0);
        return std::get<NotAdopted>(result).message;
    }
};

}  // namespace

TEST_CASE(
    "A machine of that name, with our tag and its Node's UUID, is marked and from then on like any other") {
    Legacy world;
    const auto result = world.adopt();
    REQUIRE(std::holds_alternative<Adopted>(result));
    const auto& adopted = std::get<Adopted>(result);
    CHECK(adopted.record == MachineRecord{"porsche", "1500", ""});
    CHECK(adopted.provider_id == "proxmox://lab/vms/1500");
    CHECK_THAT(world.lab.vm("1500")->config.at("description"),
               Contains(world.spec.identity.claim_uid) && Contains("made by hand"));
    CHECK(std::holds_alternative<Adopted>(world.adopt()));  // as after a crash
    CHECK(world.lab.count("PUT", ".*") == 1);
    world.lab.wait(std::chrono::seconds{15});
    CHECK(world.lab.run(world.lab.provider->list()).size() == 1);
    world.spec.record = adopted.record;
    CHECK(std::holds_alternative<Gone>(world.lab.destroy(world.spec)));
    CHECK(world.lab.vm("1500") == nullptr);
}

TEST_CASE("What proves not to be the claim's machine is left as it is, and the refusal says why") {
    Legacy world;
    auto& config = world.lab.vm("1500")->config;
    SECTION("another tag") {
        config["tags"] = "web";
        CHECK_THAT(world.refusal(), Contains("VM 1500 on porsche") && Contains("kubenodesmith-managed"));
    }
    SECTION("another UUID") {
        config["smbios1"] = "uuid=99999999-0000-4000-8000-000000000001";
        CHECK_THAT(world.refusal(), Contains("99999999") && Contains("7C9E6679"));
    }
    SECTION("another cluster's mark") {
        config["description"] =
            R"({"kubenodesmith":{"cluster":"other","provider":"p","claim":"default/x","uid":"u","attempt":1}})";
        CHECK_THAT(world.refusal(), Contains("default/x") && Contains("other"));
    }
    SECTION("two of that name") {
        world.lab.plant(1501, "zagato", world.config());
        world.lab.wait(std::chrono::seconds{15});
        CHECK_THAT(world.refusal(), Contains("VM 1500 on porsche") && Contains("VM 1501 on zagato"));
    }
    SECTION("none of that name") {
        world.lab.simulator.cluster().world.machines.clear();
        world.lab.wait(std::chrono::seconds{15});
        CHECK_THAT(world.refusal(), Contains("no VM called workers-1"));
    }
    SECTION("under a backup") {
        config["lock"] = "backup";
        CHECK_THAT(world.refusal(), Contains("locked (backup)"));
    }
}

// Tests many machines at the same time, and hosts that differ.
#include <set>

#include "test/component/proxmox/lab.hpp"

using namespace providers;
using Catch::Contains;
using test::Lab;

namespace {

CapacityReservation reservation_of(const MachineSpec& spec) {
    return {spec.record.host, spec.record.machine_id, spec.cpu_cores, spec.memory_mib};
}

}  // namespace

TEST_CASE(
    "Machines placed one after the other before any is visible get different IDs and spread over hosts") {
    Lab lab;
    std::vector<CapacityReservation> reservations;
    std::map<std::string, int> per_host;
    std::set<std::string> ids;
    for (int i = 1; i <= 9; ++i) {
        auto spec = lab.machine(i);
        spec.reservations = reservations;
        lab.place(spec);
        reservations.push_back(reservation_of(spec));
        ++per_host[spec.record.host];
        ids.insert(spec.record.machine_id);
    }
    CHECK(ids.size() == 9);
    CHECK(per_host == std::map<std::string, int>{{"alfaromeo", 3}, {"porsche", 3}, {"zagato", 3}});
}

TEST_CASE("When no host has room each host's reason is named") {
    Lab lab;
    auto spec = lab.machine(1);
    spec.memory_mib = 100 * 1024;
    const auto result = lab.ensure(spec);
    REQUIRE(std::holds_alternative<InsufficientCapacity>(result));
    const auto& message = std::get<InsufficientCapacity>(result).message;
    CHECK_THAT(message, Contains("alfaromeo: ") && Contains("porsche: ") && Contains("zagato: "));
}

TEST_CASE("Hosts in maintenance, excluded or not allowed get no machines and say so in the offerings") {
    auto world = proxmox_simulator::default_world();
    world.hosts[0].maintenance = true;
    Lab lab(world);
    lab.config.spec.proxmox->placement.excludedNodes = {"porsche"};
    lab.restart();
    auto spec = lab.machine(1);
    lab.place(spec);
    CHECK(spec.record.host == "zagato");
    const auto offerings = lab.run(lab.provider->offerings());
    REQUIRE(offerings.size() == 3);
    CHECK_FALSE(offerings[0].usable);
    CHECK(offerings[0].evacuate);
    CHECK_THAT(offerings[0].why_not, Contains("maintenance"));
    CHECK_FALSE(offerings[1].usable);
    CHECK(offerings[2].usable);
    CHECK(offerings[2].cpu_cores == 16);
    CHECK(offerings[2].free_memory_mib == 64 * 1024 - 2048);
}

TEST_CASE("Guests that start with their host are counted although they are off") {
    Lab lab;
    for (const auto* host : {"alfaromeo", "porsche"}) {
        lab.plant(100 + host[0], host, {{"name", "big"}, {"memory", "60000"}, {"onboot", "1"}});
    }
    lab.plant(200, "zagato", {{"name", "big"}, {"memory", "60000"}});
    lab.wait(std::chrono::seconds{15});
    auto spec = lab.machine(1);
    lab.place(spec);
    CHECK(spec.record.host == "zagato");
}

TEST_CASE("IDs come from the datacenter's range when none is configured") {
    auto world = proxmox_simulator::default_world();
    world.options["next-id"] = "lower=5000,upper=5002";
    Lab lab(world);
    lab.config.spec.proxmox->vmIDRange.reset();
    lab.restart();
    std::vector<std::string> ids;
    for (int i = 1; i <= 2; ++i) {
        auto spec = lab.machine(i);
        lab.launch(spec);
        ids.push_back(spec.record.machine_id);
        lab.wait(std::chrono::seconds{6});
    }
    CHECK(ids == std::vector<std::string>{"5000", "5001"});
    auto third = lab.machine(3);
    const auto result = lab.ensure(third);
    REQUIRE(std::holds_alternative<InsufficientCapacity>(result));
    CHECK_THAT(std::get<InsufficientCapacity>(result).message, Contains("5000 to 5001"));
    // Every host is also full in the offerings.
    const auto offerings = lab.run(lab.provider->offerings());
    for (const auto& host : offerings)
        CHECK_THAT(host.why_not, Contains("widen the datacenter's option next-id"));
}

TEST_CASE("A machine larger by the overhead is reported with what its node was to offer") {
    Lab lab;
    lab.config.spec.proxmox->vmMemOverheadMiB = 512;
    lab.restart();
    auto spec = lab.machine(1);
    lab.launch(spec);
    CHECK(lab.vm(spec)->config.at("memory") == "4608");
    CHECK(lab.run(lab.provider->get(spec.identity, spec.record))->memory_mib == 4096);
}

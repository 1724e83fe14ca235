// Tests storages of hosts that are full, or nearly full.
#include "test/component/proxmox/lab.hpp"

using namespace providers;
using namespace std::chrono_literals;
using Catch::Contains;
using proxmox_simulator::kGiB;
using test::Lab;

namespace {

// Fills a storage with the disks of others.
void fill(Lab& lab, const std::string& host, std::uint64_t gib) {
    auto& storage = lab.simulator.cluster().world.storages.at("local");
    storage.foreign_used[host] = gib * kGiB;
    lab.wait(15s);  // until Proxmox shows it
}

std::string total_gib(Lab& lab) {
    return std::to_string(lab.simulator.cluster().world.storages.at("local").total / kGiB);
}

}  // namespace

TEST_CASE("Machines go to the host whose storage has room, and none is tried on the full ones") {
    Lab lab;
    const auto all = std::stoull(total_gib(lab));
    fill(lab, "alfaromeo", all);
    fill(lab, "porsche", all - 1);
    for (int number = 1; number <= 3; ++number) {
        auto spec = lab.machine(number);
        lab.launch(spec);
        CHECK(spec.record.host == "zagato");
    }
    CHECK(lab.count("POST", "/nodes/(alfaromeo|porsche)/qemu") == 0);
    CHECK_THAT(lab.run(lab.provider->check()).storage_low,
               Contains("storage local on alfaromeo, storage local on porsche"));
}

TEST_CASE("Where all storages are full the machine waits for room, and takes it once there is some") {
    Lab lab;
    const auto all = std::stoull(total_gib(lab));
    for (const auto* host : {"alfaromeo", "porsche", "zagato"}) fill(lab, host, all);
    auto spec = lab.machine(1);
    const auto result = lab.ensure(spec);
    const auto* none = std::get_if<InsufficientCapacity>(&result);
    REQUIRE(none);
    CHECK_FALSE(none->permanent);
    CHECK_THAT(none->message, Contains("storage local on zagato has no unreserved room"));
    for (const auto& offering : lab.run(lab.provider->offerings())) {
        CHECK_FALSE(offering.usable);
        CHECK_THAT(offering.why_not, Contains("free room or enlarge it"));
    }
    fill(lab, "porsche", all / 2);
    lab.launch(spec);
    CHECK(spec.record.host == "porsche");
}

TEST_CASE("A storage that turns out to be full is avoided by all machines, and costs no attempt") {
    Lab lab;
    lab.simulator.faults().add_task("qmcreate", ".*",
                                    {proxmox_simulator::TaskTrouble::fail_at_once,
                                     "unable to create VM: command 'lvcreate' failed: exit code 5",
                                     "insufficient free space in thin pool: not enough free space"});
    auto spec = lab.machine(1);
    lab.place(spec);
    const auto full = spec.record.host;
    lab.step(spec);
    lab.wait(5s);
    const auto result = lab.ensure(spec);
    const auto* failed = std::get_if<AttemptFailed>(&result);
    REQUIRE(failed);
    CHECK(failed->is_excused);
    CHECK(failed->avoid_host);
    CHECK_THAT(lab.run(lab.provider->check()).storage_low, Contains("storage local on " + full));
    for (int number = 2; number <= 5; ++number) {
        auto other = lab.machine(number);
        lab.launch(other);
        CHECK(other.record.host != full);
    }
    lab.wait(2min);
    CHECK(lab.run(lab.provider->check()).storage_low.empty());
}

TEST_CASE("Disks that were promised but are not made yet leave no room for others") {
    Lab lab;
    const auto all = std::stoull(total_gib(lab));
    for (const auto* host : {"alfaromeo", "porsche"}) fill(lab, host, all);
    // There is room for two disks of 8 GiB beside the reserve.
    fill(lab, "zagato", all - all / 20 - 20);
    std::vector<CapacityReservation> placed;
    for (int number = 1; number <= 3; ++number) {
        auto spec = lab.machine(number);
        spec.reservations = placed;
        const auto result = lab.ensure(spec);
        CHECK(std::holds_alternative<Machine>(result) == (number <= 2));
        if (const auto* machine = std::get_if<Machine>(&result))
            placed.push_back({machine->record.host, machine->record.machine_id, 2, 4096});
    }
}

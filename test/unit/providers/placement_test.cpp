#include "providers/proxmox/placement/host_choice.hpp"

#include <boost/json/parse.hpp>

#include "providers/proxmox/config/vm_config.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "test/support/catch.hpp"

using namespace providers;
using namespace providers::proxmox;
using api::v1alpha1::PlacementStrategy;
using Catch::Contains;

namespace {

HostState host(std::string name, std::int64_t cpus = 16, std::int64_t memory_mib = 65536) {
    HostState state;
    state.name = std::move(name);
    state.is_online = true;
    state.cpus = cpus;
    state.memory_mib = memory_mib;
    return state;
}

Guest guest(std::int64_t vmid, std::string node, std::int64_t memory_mib, Tags tags = {}) {
    Guest result;
    result.vmid = vmid;
    result.node = std::move(node);
    result.memory_mib = memory_mib;
    result.cpus = 2;
    result.tags = std::move(tags);
    result.is_running = true;
    return result;
}

struct World {
    Settings settings;
    ClusterState state;
    StartsOnBoot boot;
    std::vector<CapacityReservation> reservations;
    PlacementRequest demand;

    World() {
        state.hosts = {host("a"), host("b"), host("c")};
        demand.cpus = 2;
        demand.memory_mib = 4096;
    }
    std::vector<HostRoom> all_rooms() const { return rooms(settings, state, boot, reservations); }
    std::string choose() const {
        const auto chosen = choose_host(settings, all_rooms(), demand);
        const auto* none = std::get_if<InsufficientCapacity>(&chosen);
        return none ? none->message : std::get<std::string>(chosen);
    }
};

const Tags kOurs = {"kubenodesmith-managed"};

}  // namespace

TEST_CASE(
    "What runs, starts on boot, is ours or is reserved is committed; templates, idle guests and what is kept "
    "for a look are not") {
    World world;
    auto idle = guest(1, "a", 1000);
    idle.is_running = false;
    auto boots = guest(2, "a", 2000);
    boots.is_running = false;
    world.boot = {2};
    auto ours_off = guest(3, "a", 4000, kOurs);
    ours_off.is_running = false;
    auto of_template = guest(4, "a", 8000);
    of_template.is_template = true;
    auto container = guest(5, "a", 16000);
    container.is_container = true;
    auto kept = guest(7, "a", 32000, {"kubenodesmith-managed", "kubenodesmith-kept"});
    kept.is_running = false;
    world.state.guests = {idle, boots, ours_off, of_template, container, kept};
    world.reservations = {{"a", "3", 2, 4000}, {"a", "6", 3, 1000}};
    world.settings.spec.vmMemOverheadMiB = 100;
    const auto room = world.all_rooms()[0];
    CHECK(room.free_memory_mib == 65536 - 2048 - 2000 - 4000 - 16000 - 1100);
    CHECK(room.free_cpus == 64 - 1 - 2 - 2 - 2 - 3);
    CHECK(room.machines == std::set<std::int64_t>{3, 6});
}

// Otherwise more is launched than the host can take while the first machines are cloned.
TEST_CASE("what is being made counts as what it is to be, and what is kept never") {
    World world;
    auto clone = guest(8, "a", 512);
    clone.is_running = false;
    clone.lock = "clone";
    auto kept = guest(9, "a", 32000, {"kubenodesmith-managed", "kubenodesmith-kept"});
    kept.is_running = false;
    SECTION("it is off, as it mostly is") {}
    SECTION("its template starts on boot") {
        world.boot = {8};
    }
    world.state.guests = {clone, kept};
    CHECK(world.all_rooms()[0].machines.empty());
    world.reservations = {{"a", "8", 3, 4000}, {"a", "9", 4, 32000}};
    const auto room = world.all_rooms()[0];
    CHECK(room.free_memory_mib == 65536 - 2048 - 4000);
    CHECK(room.free_cpus == 64 - 1 - 3);
    CHECK(room.machines == std::set<std::int64_t>{8});
}

TEST_CASE(
    "Spread takes the host with the fewest machines of ours, then the most free memory, then the name") {
    World world;
    CHECK(world.choose() == "a");
    world.state.guests = {guest(1, "a", 1024, kOurs)};
    CHECK(world.choose() == "b");
    world.state.guests.push_back(guest(2, "b", 1024));
    CHECK(world.choose() == "c");
}

TEST_CASE("The other strategies go by what is free after placement") {
    World world;
    world.state.hosts = {host("a", 32, 16384), host("b", 8, 65536), host("c", 16, 49152)};
    world.settings.spec.placement.strategy = PlacementStrategy::MaxMemory;
    CHECK(world.choose() == "b");
    world.settings.spec.placement.strategy = PlacementStrategy::MaxCPU;
    CHECK(world.choose() == "a");
    world.settings.spec.placement.strategy = PlacementStrategy::Balanced;
    world.state.guests = {guest(1, "a", 8192), guest(2, "b", 32768)};
    CHECK(world.choose() == "c");
}

TEST_CASE("Round robin goes on behind the last host, over hosts that cannot take the machine") {
    World world;
    world.settings.spec.placement.strategy = PlacementStrategy::RoundRobin;
    CHECK(world.choose() == "a");
    world.demand.last_placed_host = "a";
    CHECK(world.choose() == "b");
    world.state.hosts[1].is_online = false;
    CHECK(world.choose() == "c");
    world.demand.last_placed_host = "c";
    CHECK(world.choose() == "a");
}

TEST_CASE("Hosts that must not be used never are, and each says why") {
    struct Row {
        const char* why;
        void (*spoil)(World&);
    };
    const Row rows[] = {
        {"nodeWhitelist", [](World& w) { w.settings.spec.nodeWhitelist = {"b"}; }},
        {"excludedNodes", [](World& w) { w.settings.spec.placement.excludedNodes = {"a"}; }},
        {"evacuateNodes", [](World& w) { w.settings.spec.placement.evacuateNodes = {"a"}; }},
        {"offline", [](World& w) { w.state.hosts[0].is_online = false; }},
        {"maintenance", [](World& w) { w.state.hosts[0].in_maintenance = true; }},
        {"Sys.Audit", [](World& w) { w.state.hosts[0].memory_mib = 0; }},
        {"idle CPUs",
         [](World& w) {
             w.settings.spec.placement.minAvailable.cpuCores = 4;
             w.state.hosts[0].cpu_use = 0.8;
         }},
        {"free memory",
         [](World& w) {
             w.settings.spec.placement.minAvailable.memoryMiB = 1024;
             w.state.hosts[0].memory_used_mib = 65000;
         }},
        {"at most 0 of its 1 CPU,", [](World& w) { w.state.hosts[0].cpus = 1; }},
        {"at most 2048 of its 4096 MiB", [](World& w) { w.state.hosts[0].memory_mib = 4096; }},
        {"not zone b", [](World& w) { w.demand.zone = "b"; }},
        {"MiB not reserved", [](World& w) { w.state.guests = {guest(1, "a", 60000)}; }},
    };
    for (const auto& row : rows) {
        INFO(row.why);
        World world;
        row.spoil(world);
        CHECK(world.choose() == "b");
        world.state.hosts.resize(1);
        CHECK_THAT(world.choose(), Contains("a: ") && Contains(row.why));
    }
}

TEST_CASE("A host where an earlier attempt failed is used last") {
    World world;
    world.demand.avoid_hosts = {"a"};
    CHECK(world.choose() == "b");
    world.state.hosts.resize(1);
    CHECK(world.choose() == "a");
}

TEST_CASE("Overcommitment is as configured") {
    World world;
    world.state.hosts.resize(1);
    world.state.guests = {guest(1, "a", 40'000)};
    world.state.guests[0].cpus = 10;
    world.demand.memory_mib = 40'000;
    world.demand.cpus = 10;
    CHECK_THAT(world.choose(), Contains("MiB not reserved"));
    world.settings.spec.placement.memoryAllocationPercent = 200;
    CHECK(world.choose() == "a");
    world.settings.spec.placement.cpuAllocationPercent = 100;
    CHECK_THAT(world.choose(), Contains("CPUs not reserved"));
}

// Proxmox starts no VM with more CPUs than its host has. A VM with all of the host's memory starves the host.
TEST_CASE("However much may be promised, one machine gets no more than its host has") {
    World world;
    world.settings.spec.placement.memoryAllocationPercent = 400;
    world.demand.cpus = 16;
    CHECK_THAT(world.choose(), Contains("c: can give one machine at most 15 of its 16 CPUs, needed 16"));
    world.demand.cpus = 15;
    world.demand.memory_mib = 65536;
    CHECK_THAT(world.choose(), Contains("c: can give one machine at most 63488 of its 65536 MiB"));
    world.demand.memory_mib = 63488;
    CHECK(world.choose() == "a");
}

TEST_CASE("What no host can ever take is told from what none can take now") {
    World world;
    const auto is_permanent = [&] {
        const auto chosen = choose_host(world.settings, world.all_rooms(), world.demand);
        return std::get<InsufficientCapacity>(chosen).permanent;
    };
    world.demand.cpus = 20;
    CHECK(is_permanent());
    // The size of a host that is off is unknown.
    world.state.hosts[2].is_online = false;
    world.state.hosts[2].cpus = world.state.hosts[2].memory_mib = 0;
    CHECK_FALSE(is_permanent());
    world.settings.spec.placement.excludedNodes = {"c"};
    CHECK(is_permanent());
    world.demand.cpus = 2;
    world.state.guests = {guest(1, "a", 63000), guest(2, "b", 63000)};
    CHECK_FALSE(is_permanent());
}

TEST_CASE("The boot disk of a blank machine is the first drive in its boot order") {
    CHECK(new_boot_disk_gib({}) == 0);
    CHECK(new_boot_disk_gib({{"boot", "order=net0"}, {"scsihw", "virtio-scsi-single"}}) == 0);
    CHECK(new_boot_disk_gib({{"scsi0", "local-lvm:32,discard=on"}}) == 32);
    CHECK(new_boot_disk_gib({{"efidisk0", "local-lvm:1"}, {"virtio0", "local:20,format=qcow2"}}) == 20);
    CHECK(new_boot_disk_gib({{"boot", "order=net0;scsi1;scsi0"}, {"scsi0", "a:64"}, {"scsi1", "a:16"}}) ==
          16);
    CHECK(new_boot_disk_gib({{"ide2", "local:iso/x.iso,media=cdrom"}, {"scsi0", "a:8"}}) == 8);
}

TEST_CASE("The state of a cluster is read from its resources, numbers as texts and gaps included") {
    const auto state = parse_cluster_state(boost::json::parse(R"([
        {"type": "qemu", "vmid": 200, "node": "b", "status": "running", "maxcpu": 4, "maxmem": 4294967296, "tags": "x;y", "name": "n"},
        {"type": "lxc", "vmid": "100", "node": "a", "status": "unknown"},
        {"type": "node", "node": "b", "status": "online", "maxcpu": 16, "maxmem": 68719476736, "mem": 1073741824, "cpu": 0.5},
        {"type": "node", "node": "a", "status": "offline", "hastate": "maintenance"},
        {"type": "storage", "storage": "local", "node": "b"}, {"type": "pool"}])"));
    REQUIRE(state.hosts.size() == 2);
    CHECK(state.hosts[0].name == "a");
    CHECK_FALSE(state.hosts[0].is_online);
    CHECK(state.hosts[0].in_maintenance);
    CHECK(state.hosts[1].memory_mib == 65536);
    CHECK(state.hosts[1].memory_used_mib == 1024);
    REQUIRE(state.guests.size() == 2);
    CHECK(state.find_guest(100)->is_container);
    CHECK(state.find_guest(200)->memory_mib == 4096);
    CHECK(state.find_guest(200)->tags == Tags{"x", "y"});
    CHECK_FALSE(state.find_guest(101));
}

TEST_CASE("An ID of our own range is one that is free, at a place that depends on the machine") {
    const IDRange range{1000, 1009};
    const auto first = choose_id(range, {}, "uuid-1", true);
    REQUIRE(first);
    CHECK(choose_id(range, {}, "uuid-1", true) == first);
    std::set<std::int64_t> taken;
    for (int i = 0; i < 10; ++i) {
        const auto id = choose_id(range, taken, "uuid-1", true);
        REQUIRE(id);
        CHECK(*id >= 1000);
        CHECK(*id <= 1009);
        CHECK(taken.insert(*id).second);
    }
    CHECK_FALSE(choose_id(range, taken, "uuid-1", true));
}

TEST_CASE("An ID of a shared range is the lowest that is free") {
    CHECK(choose_id({100, 999}, {100, 101, 103}, "x", false) == 102);
    CHECK(choose_id({100, 100}, {}, "x", true) == 100);
    CHECK_FALSE(choose_id({100, 99}, {}, "x", true));
}

TEST_CASE("The datacenter's range of IDs has an exclusive upper end") {
    CHECK(parse_next_id_range("lower=5000,upper=6000") == IDRange{5000, 5999});
    CHECK(parse_next_id_range("") == IDRange{100, 999'999});
    CHECK(parse_next_id_range("upper=200") == IDRange{100, 199});
    // No limit in the text leads to a VMID that Proxmox would not accept.
    CHECK(parse_next_id_range("lower=-9223372036854775808,upper=9223372036854775807") ==
          IDRange{100, 999'999'999});
    CHECK(parse_next_id_range("upper=-9223372036854775808") == IDRange{100, 99});
}

TEST_CASE("A host that failed this machine comes after all others, then those that failed others lately") {
    World world;
    CHECK(world.choose() == "a");
    world.demand.recent_failures = {{"a", 2}, {"b", 1}};
    CHECK(world.choose() == "c");
    world.demand.avoid_hosts = {"c"};
    CHECK(world.choose() == "b");
    world.demand.avoid_hosts = {"c", "b"};
    CHECK(world.choose() == "a");
    world.demand.avoid_hosts = {"c", "b", "a"};
    CHECK(world.choose() == "c");
}

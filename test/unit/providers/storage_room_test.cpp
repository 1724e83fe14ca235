// Tests how much of a storage can still be promised to disks of machines.
#include "providers/proxmox/placement/storage_room.hpp"

#include <boost/json/parse.hpp>

#include "providers/proxmox/placement/full_storages.hpp"
#include "test/support/catch.hpp"
#include "test/support/virtual_clock.hpp"

using namespace providers;
using namespace providers::proxmox;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kGiB = 1024;  // MiB

struct World {
    Settings settings;
    ClusterState state;
    StorageState storage;
    std::optional<VolumeSizes> volumes = VolumeSizes{};
    std::vector<CapacityReservation> reservations;
    std::int64_t need = 32 * kGiB;

    World() {
        storage.name = "local-lvm";
        storage.node = "pve1";
        storage.total_mib = 1000 * kGiB;
        storage.used_mib = 100 * kGiB;
    }
    StorageRoom room() const {
        const auto found = storage_room(settings, state, {&storage, volumes}, reservations, need);
        REQUIRE(found);
        return *found;
    }
    void add_guest(std::int64_t vmid, const std::string& host, const char* tag) {
        Guest guest;
        guest.vmid = vmid;
        guest.node = host;
        guest.tags = {tag};
        state.guests.push_back(guest);
    }
};

VmConfig config(std::map<std::string, std::string> options) {
    VmConfig result;
    result.options = std::move(options);
    return result;
}

}  // namespace

TEST_CASE("What volumes may grow to is promised, and a reserve stays free") {
    World world;
    world.volumes = VolumeSizes{{101, 400 * kGiB}, {102, 300 * kGiB}};
    CHECK(world.room().free_mib / kGiB == 1000 - 700 - 50);
    world.settings.spec.placement.storageReservedPercent = 0;
    CHECK(world.room().free_mib / kGiB == 300);
    world.settings.spec.placement.storageAllocationPercent = 200;
    // Used space is not available, however much may be promised.
    CHECK(world.room().free_mib / kGiB == 900);
    world.storage.used_mib = 950 * kGiB;
    CHECK(world.room().free_mib / kGiB == 50);
}

TEST_CASE("Machines on record count until the list shows their disks") {
    World world;
    world.volumes = VolumeSizes{{101, 32 * kGiB}};
    const auto before = world.room().free_mib;
    world.reservations = {{"pve1", "101", 2, 4096}, {"pve1", "102", 2, 4096}, {"pve2", "103", 2, 4096}};
    CHECK(before - world.room().free_mib == 32 * kGiB);
    world.storage.is_shared = true;
    CHECK(before - world.room().free_mib == 64 * kGiB);
}

TEST_CASE("Where the token does not see every volume, what is used counts and all that ours may grow to") {
    World world;
    world.volumes.reset();
    world.add_guest(101, "pve1", "kubenodesmith-managed");
    world.add_guest(102, "pve2", "kubenodesmith-managed");
    world.add_guest(103, "pve1", "somebody-else");
    CHECK(world.room().free_mib / kGiB == 1000 - 100 - 32 - 50);
}

TEST_CASE(
    "A storage is nearly full when two more machines do not fit, and of an unknown size it is not known") {
    World world;
    CHECK_FALSE(world.room().is_nearly_full);
    world.volumes = VolumeSizes{{101, 900 * kGiB}};
    CHECK(world.room().free_mib / kGiB == 50);
    CHECK(world.room().is_nearly_full);
    world.storage.total_mib = 0;
    CHECK_FALSE(storage_room(world.settings, world.state, {&world.storage, world.volumes}, {}, 1));
}

TEST_CASE("A machine needs the disks of its template, enlarged, or those that vmOptions make") {
    Settings settings;
    settings.vm_options = {{"scsi1", "ceph:100"}, {"ide2", "none,media=cdrom"}, {"boot", "order=scsi0"}};
    CHECK(disk_need(settings, VmConfig()) == DiskNeed{{"ceph", 100 * kGiB}});
    settings.spec.template_.emplace();
    const auto source = config({{"scsi0", "local-lvm:base-9000-disk-0,size=8G"},
                                {"ide2", "local-lvm:vm-9000-cloudinit,media=cdrom"},
                                {"scsi1", "local-lvm:base-9000-disk-1,size=4G"}});
    CHECK(disk_need(settings, source) == DiskNeed{{"ceph", 100 * kGiB}, {"local-lvm", 8 * kGiB}});
    settings.spec.template_->bootDisk.sizeGiB = 20;
    CHECK(disk_need(settings, source) == DiskNeed{{"ceph", 100 * kGiB}, {"local-lvm", 20 * kGiB}});
    settings.spec.template_->storage = "fast";
    CHECK(disk_need(settings, source) == DiskNeed{{"ceph", 100 * kGiB}, {"fast", 20 * kGiB}});
}

TEST_CASE("A storage that was full is kept off for pauses that grow, or until there is more room") {
    asio::io_context context;
    fake::VirtualClock clock;
    FullStorages full(clock);
    StorageState storage;
    storage.name = "local";
    storage.node = "pve1";
    storage.used_mib = 1000 * kGiB;
    CHECK(full.cause(storage).empty());
    full.note(storage, "No space left on device");
    CHECK(full.cause(storage) == "No space left on device");
    auto elsewhere = storage;
    elsewhere.node = "pve2";
    CHECK(full.cause(elsewhere).empty());
    clock.run_for(context, 61s);
    CHECK(full.cause(storage).empty());
    full.note(storage, "No space left on device");
    clock.run_for(context, 61s);
    CHECK_FALSE(full.cause(storage).empty());
    storage.used_mib -= 2 * kGiB;
    CHECK(full.cause(storage).empty());
}

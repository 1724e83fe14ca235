// Tests which volumes have a VMID, and which of a machine's volumes were made with it.
#include "providers/proxmox/config/volumes.hpp"

#include <boost/json/parse.hpp>

#include "test/support/catch.hpp"

using namespace providers::proxmox;

namespace {

using Uses = std::vector<VolumeUse>;

Uses unexplained(const Uses& uses, const MadeVolumes& made) {
    return unexplained_volumes(uses, 105, made);
}

}  // namespace

TEST_CASE("A volume's VMID stands in its name or in its folder, whatever kind of storage it is on") {
    CHECK(owner_of_volume("local:105/vm-105-disk-0.qcow2") == 105);
    CHECK(owner_of_volume("local:9000/base-9000-disk-0.qcow2/105/vm-105-disk-0.qcow2") == 105);
    CHECK(owner_of_volume("rbd:base-9000-disk-0/vm-105-disk-0") == 105);
    CHECK(owner_of_volume("local-lvm:vm-9999-pvc-7a1c2f30-1111") == 9999);
    CHECK(owner_of_volume("local:105/anything.raw") == 105);
    CHECK(owner_of_volume("local-zfs:subvol-105-disk-0") == 105);
    for (const auto* other :
         {"local:iso/x.iso", "/dev/disk/by-id/x", "none", "", "local:vm-", "local:vm-x-disk-0",
          "iscsi:0.0.1.lun-1", "local:vm-99999999999999999999-disk-0"})
        CHECK_FALSE(owner_of_volume(other));
}

TEST_CASE(
    "What waits to be set or taken out of a configuration counts, and a disk that stands as a CD-ROM does "
    "not") {
    const auto pending = boost::json::parse(R"([
        {"key": "scsi0", "value": "local:105/vm-105-disk-0.raw,size=8G"},
        {"key": "scsi1", "value": "local:105/vm-105-disk-1.raw", "pending": "local:105/vm-105-disk-2.raw"},
        {"key": "scsi2", "pending": "local:105/vm-105-disk-3.raw"},
        {"key": "unused0", "value": "local:105/vm-105-disk-4.raw", "delete": 1},
        {"key": "ide0", "value": "local:105/vm-105-disk-5.raw,media=cdrom"},
        {"key": "ide2", "value": "local:105/vm-105-cloudinit.qcow2,media=cdrom"},
        {"key": "ide3", "value": "local:iso/x.iso,media=cdrom"},
        {"key": "net0", "value": "virtio,bridge=vmbr0"}])");
    std::vector<std::string> options;
    for (const auto& use : volume_uses(pending)) options.push_back(use.option);
    CHECK(options == std::vector<std::string>{"scsi0", "scsi1", "scsi1", "scsi2", "unused0", "ide2"});
}

TEST_CASE("A volume is explained by the record, by a drive that was made, or as generated from the VM") {
    const VolumeUse disk{"scsi0", "local:105/vm-105-disk-0.raw"};
    const VolumeUse kept{"scsi5", "local:105/vm-105-backup.raw"};
    const VolumeUse unused{"unused0", "local:105/vm-105-disk-0.raw"};
    const VolumeUse drive{"ide2", "local:105/vm-105-cloudinit.qcow2"};
    const VolumeUse memory{"vmstate", "local:105/vm-105-state-suspend-2026-11-28.raw"};
    const VolumeUse csi{"scsi9", "local:9999/vm-9999-pvc-1.raw"};
    const Uses all{disk, kept, unused, drive, memory, csi};
    CHECK(unexplained(all, {}) == Uses{disk, kept, unused});
    CHECK(unexplained(all, {{disk.volume}, {}}) == Uses{kept});
    CHECK(unexplained(all, {{}, {"scsi0", "scsi5"}}) == Uses{kept, unused});
    CHECK(volumes_of_others(all, 105) == Uses{csi});
}

TEST_CASE("The record of volumes is read back from a mark, and a mark without one has none") {
    const MadeVolumes made{{"local:105/vm-105-disk-0.raw", "local:105/vm-105-disk-1.raw"}, {"scsi0"}};
    providers::MachineIdentity identity;
    identity.claim_uid = "claim";
    CHECK(recorded_volumes(describe_unfinished_mark(identity, 105, made)) == made);
    CHECK(recorded_volumes("a line\n" + describe_mark(identity, 105, {made.volumes, {}})) ==
          MadeVolumes{made.volumes, {}});
    CHECK(recorded_volumes(describe_mark(identity, 105, MadeVolumes())) == MadeVolumes());
    CHECK_FALSE(recorded_volumes(describe_mark(identity)));
    CHECK_FALSE(recorded_volumes("no mark"));
}

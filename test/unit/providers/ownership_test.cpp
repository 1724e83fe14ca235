#include "providers/errors.hpp"
#include "providers/proxmox/config/vm_config.hpp"

#include <boost/json/parse.hpp>

#include "test/support/catch.hpp"

using namespace providers;
using namespace providers::proxmox;

namespace {

const std::string kTag = "kubenodesmith-managed";

MachineIdentity identity() {
    return {"cluster",
            "provider",
            "default",
            "workers-1",
            "claim-uid",
            2,
            "AAAAAAAA-0000-5000-8000-000000000001"};
}

VmConfig ours() {
    VmConfig config;
    config.options = {{"smbios1", "uuid=aaaaaaaa-0000-5000-8000-000000000001"},
                      {"description", describe_mark(identity()) + "\nA note of the user's\n"},
                      {"tags", "a;kubenodesmith-managed"}};
    return config;
}

}  // namespace

TEST_CASE("A mark survives its way through a description") {
    auto expected = identity();
    expected.system_uuid.clear();
    CHECK(parse_mark(describe_mark(identity())) == expected);
    CHECK(parse_mark("note\n" + describe_mark(identity()) + "\n") == expected);
    CHECK(describe_mark(identity()).find('\n') == std::string::npos);
    for (const auto* text :
         {"", "note", "{\"kubenodesmith\":", "{\"kubenodesmith\":{}}", "{\"kubenodesmith\":5}",
          R"({"kubenodesmith":{"claim":"no-slash","uid":"u","attempt":1}})",
          R"({"kubenodesmith":{"claim":"a/b","uid":"u","attempt":0}})"}) {
        INFO(text);
        CHECK_FALSE(parse_mark(text));
    }
}

TEST_CASE("A VM is ours only if UUID, mark and tag all say so") {
    CHECK(ownership_of(ours(), 105, identity(), kTag) == Ownership::ours);
    const auto with = [](const std::string& option, const std::string& value) {
        auto config = ours();
        config.options[option] = value;
        return ownership_of(config, 105, identity(), kTag);
    };
    CHECK(with("smbios1", "uuid=bbbbbbbb-0000-5000-8000-000000000001") == Ownership::contradictory);
    CHECK(with("description", "") == Ownership::contradictory);
    CHECK(with("tags", "") == Ownership::contradictory);
    auto other = identity();
    other.provider_uid = "another";
    CHECK(with("description", describe_mark(other)) == Ownership::contradictory);
    auto earlier = identity();
    earlier.attempt = 1;
    CHECK(with("description", describe_mark(earlier)) == Ownership::contradictory);
}

TEST_CASE("A VM with the mark of another VMID is a copy") {
    auto config = ours();
    config.options["description"] = describe_mark(identity(), 105, {});
    CHECK(ownership_of(config, 105, identity(), kTag) == Ownership::ours);
    CHECK(ownership_of(config, 106, identity(), kTag) == Ownership::contradictory);
    CHECK_THAT(explain_ownership(config, 106, identity(), kTag), Catch::Contains("VMID 105"));
}

TEST_CASE("An unfinished clone is known by a mark that names its VMID") {
    auto config = ours();
    config.options["smbios1"] = "uuid=bbbbbbbb-0000-5000-8000-000000000001";
    config.options["description"] = describe_unfinished_mark(identity(), 105);
    config.options.erase("tags");
    CHECK(ownership_of(config, 105, identity(), kTag) == Ownership::unfinished);
    CHECK(ownership_of(config, 106, identity(), kTag) == Ownership::contradictory);
    auto other = identity();
    other.provider_uid = "another";
    CHECK(ownership_of(config, 105, other, kTag) == Ownership::contradictory);
    config.options["description"] = describe_mark(identity());
    CHECK(ownership_of(config, 105, identity(), kTag) == Ownership::contradictory);
}

TEST_CASE("A VM that names this machine nowhere is somebody else's") {
    auto config = ours();
    config.options["smbios1"] = "uuid=bbbbbbbb-0000-5000-8000-000000000001";
    auto other = identity();
    other.claim_uid = "another";
    config.options["description"] = describe_mark(other);
    CHECK(ownership_of(config, 105, identity(), kTag) == Ownership::foreign);
    CHECK(ownership_of(VmConfig(), 105, identity(), kTag) == Ownership::foreign);
    auto other_cluster = identity();
    other_cluster.cluster_id = "another";
    config.options["description"] = describe_mark(other_cluster);
    CHECK(ownership_of(config, 105, identity(), kTag) == Ownership::foreign);
}

TEST_CASE("A VM under creation that carries nothing yet is nobody's") {
    VmConfig config;
    config.options = {{"lock", "create"}};
    CHECK(ownership_of(config, 105, identity(), kTag) == Ownership::half_made);
    config.options = {{"lock", "clone"}, {"description", " qmclone temporary file"}};
    CHECK(ownership_of(config, 105, identity(), kTag) == Ownership::half_made);
    config = ours();
    config.options["lock"] = "create";
    CHECK(ownership_of(config, 105, identity(), kTag) == Ownership::ours);
}

TEST_CASE("Numbers of a configuration may be texts, and have Proxmox' defaults") {
    const auto config =
        parse_vm_config(boost::json::parse(R"({"cores": 4, "sockets": 2, "memory": "4096"})"));
    CHECK(config.cores() == 8);
    CHECK(config.memory_mib() == 4096);
    CHECK(parse_vm_config(boost::json::parse(R"({"memory": "current=2048"})")).memory_mib() == 2048);
    CHECK(VmConfig().cores() == 1);
    CHECK(VmConfig().memory_mib() == 512);
    // A size that no machine has is limited, so that sums do not overflow.
    CHECK(parse_vm_config(boost::json::parse(R"({"memory": "9223372036854775807"})")).memory_mib() ==
          std::int64_t{1} << 30);
    CHECK(disk_size_gib(parse_vm_config(boost::json::parse(
                            R"({"scsi0": "local:vm-1-disk-0,size=9223372036854775807T"})")),
                        "scsi0") == INT64_MAX);
}

TEST_CASE("A boot image takes the first free CD-ROM drive") {
    VmConfig config;
    CHECK(free_cdrom_drive(config) == "ide2");
    config.options["ide2"] = "none,media=cdrom";
    CHECK(free_cdrom_drive(config) == "ide0");
    for (const auto* drive : {"ide0", "ide1", "ide3"}) config.options[drive] = "local:1/vm-1-disk-0.qcow2";
    CHECK(free_cdrom_drive(config) == "sata5");
    for (const auto* drive : {"sata0", "sata1", "sata2", "sata3", "sata4", "sata5"})
        config.options[drive] = "x";
    CHECK_THROWS_AS(free_cdrom_drive(config), ProviderError);
}

TEST_CASE("The drive of a boot image is found by its file") {
    VmConfig config;
    config.options = {{"ide0", "local:iso/debian.iso,media=cdrom"},
                      {"ide3", "nfs:iso/mine.iso,media=cdrom,size=4M"}};
    const auto drive = drive_with_file(config, "mine.iso");
    REQUIRE(drive);
    CHECK(drive->drive == "ide3");
    CHECK(drive->volume == "nfs:iso/mine.iso");
    CHECK_FALSE(drive_with_file(config, "ine.iso"));
    CHECK_FALSE(has_empty_cdrom(config));
    config.options["ide3"] = "none,media=cdrom";
    CHECK(has_empty_cdrom(config));
}

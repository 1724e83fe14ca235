#include "providers/proxmox/wire/property_string.hpp"

#include "test/support/catch.hpp"

using namespace providers::proxmox;

TEST_CASE("A property string keeps its order and its default key") {
    auto net = PropertyString::parse("virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=7");
    CHECK(net.find("bridge") == "vmbr0");
    CHECK_FALSE(net.find("firewall"));
    net.set("tag", "8");
    net.set("firewall", "1");
    CHECK(net.str() == "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=8,firewall=1");

    const auto drive = PropertyString::parse("local:iso/a.iso, media=cdrom");
    CHECK(drive.find_or_default("file") == "local:iso/a.iso");
    CHECK(drive.find("media") == "cdrom");
    CHECK(PropertyString::parse("file=none,media=cdrom").find_or_default("file") == "none");
    CHECK(PropertyString::parse("").str().empty());
}

TEST_CASE("What is not well formed is written as it was read") {
    CHECK(PropertyString::parse("a=1, = b=c,=").str() == "a=1,= b=c,=");
    CHECK_FALSE(PropertyString::parse("=b=c").find("b"));
}

TEST_CASE("A value with a comma is refused, for Proxmox cannot escape it") {
    PropertyString text;
    CHECK_THROWS_AS(text.set("a", "b,c=d"), std::invalid_argument);
}

TEST_CASE("Tags are sets, whatever separates them") {
    CHECK(parse_tags("b;A, c  b") == Tags{"a", "b", "c"});
    CHECK(join_tags({"b", "a"}) == "a;b");
    CHECK(parse_tags("").empty());
}

TEST_CASE("A UPID tells host, type, ID and user") {
    const auto upid = parse_upid("UPID:pve1:00000684:0004FF9C:6B0138C1:qmcreate:9100:autoscaler@pve!kube:");
    REQUIRE(upid);
    CHECK(upid->node == "pve1");
    CHECK(upid->type == "qmcreate");
    CHECK(upid->id == "9100");
    CHECK(upid->user == "autoscaler@pve!kube");
    CHECK(upid->start_time == 0x6B0138C1);
    CHECK(parse_upid("UPID:pve1:000005AB:000570A4:6B0139E3:imgcopy::root2@pve!admin:")->id.empty());
}

TEST_CASE("What is no UPID is refused") {
    const std::string numbers = ":00000684:0004FF9C:6B0138C1:";
    REQUIRE(parse_upid("UPID:pve1" + numbers + "qmstart:1:a@pve:"));
    const std::string wrong[] = {"",
                                 "UPID",
                                 "UPID:pve1" + numbers + "qmstart:1:a@pve",
                                 "OK:pve1" + numbers + "qmstart:1:a@pve:",
                                 "UPID:pve1:00000684:0004FF9C:xyz:qmstart:1:a@pve:",
                                 "UPID:pve1:1:2:3:qmstart:1:a@pve:",
                                 "UPID:" + numbers + "qmstart:1:a@pve:",
                                 "UPID:pve 1" + numbers + "qmstart:1:a@pve:",
                                 "UPID:pve1" + numbers + "qmstart:1:a@pve:more:",
                                 "UPID:pve1" + numbers + "qm start:1:a@pve:",
                                 "UPID:pve1" + numbers + "qmstart:1:a\x1b@pve:",
                                 "UPID:pve1" + numbers + "qmstart:1:a@pve:\n",
                                 "UPID:pve1" + numbers + "qmstart:1:" + std::string(300, 'a') + "@pve:"};
    for (const auto& text : wrong) {
        INFO(text);
        CHECK_FALSE(parse_upid(text));
    }
}

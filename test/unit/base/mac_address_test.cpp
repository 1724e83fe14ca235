#include "base/mac_address.hpp"

#include "test/support/catch.hpp"

using base::find_mac_address;
using base::mac_address;

TEST_CASE("A MAC address is the same for the same key only, and keeps the prefix") {
    CHECK(mac_address("BC:24:11", "u/net0") == mac_address("BC:24:11", "u/net0"));
    CHECK(mac_address("BC:24:11", "u/net0") != mac_address("BC:24:11", "u/net1"));
    CHECK_THAT(mac_address("bc:24:11:", "u"), Catch::Matches("BC:24:11(:[0-9A-F]{2}){3}"));
    CHECK_THAT(mac_address("BC:24:11:01:02", "u"), Catch::Matches("BC:24:11:01:02:[0-9A-F]{2}"));
    CHECK_THAT(mac_address("", "u"), Catch::Matches("[0-9A-F][26AE](:[0-9A-F]{2}){5}"));
}

TEST_CASE("A MAC address is found wherever it stands") {
    CHECK(find_mac_address("virtio=bc:24:11:aa:bb:cc,bridge=vmbr0") == "BC:24:11:AA:BB:CC");
    CHECK(find_mac_address("model=virtio,macaddr=BC:24:11:AA:BB:CC") == "BC:24:11:AA:BB:CC");
    CHECK(find_mac_address("virtio,bridge=vmbr0").empty());
}

// Tests the way to a host's own API, and how the host proves its identity.
#include <boost/json/parse.hpp>

#include "providers/proxmox/cluster/host_addresses.hpp"
#include "test/support/catch.hpp"

using namespace providers::proxmox;

namespace {

const std::string kFirst(
    "F7:97:A1:4C:12:22:F7:5A:15:30:06:68:D8:96:B0:08:FD:A1:A2:13:BE:A9:8C:48:71:40:62:56:DA:8D:47:83");
const std::string kSecond(
    "A9:A8:EB:A3:D5:08:E9:BE:2F:CF:BC:EC:36:52:34:C3:C4:ED:CE:28:7D:82:F7:BB:47:EB:FF:21:BE:0F:48:38");

HostPresences two_hosts(const std::string& second_ip = "10.99.0.2",
                        const std::string& fingerprint = kSecond) {
    return {{"pve1", {"10.99.0.1", kFirst, true}}, {"pve2", {second_ip, fingerprint, false}}};
}

Endpoints one_endpoint(bool has_ca = false) {
    return {{"https://proxmox.example.com:8006"}, "https://proxmox.example.com:8006", has_ca};
}

}  // namespace

TEST_CASE("A host's address and certificate come from what the cluster says of its hosts") {
    const auto status = json::parse(R"([{"type": "cluster", "name": "lab", "quorate": 1},
        {"type": "node", "name": "pve1", "ip": "10.99.0.1", "local": 1},
        {"type": "node", "name": "pve2", "ip": "10.99.0.2", "local": 0},
        {"type": "node", "name": "../x", "ip": "10.99.0.3"}])");
    const auto hosts = json::parse(R"([{"node": "pve1", "ssl_fingerprint": ")" + kFirst +
                                   R"("}, {"node": "pve2", "ssl_fingerprint": "none"}])");
    const auto found = parse_host_presences(status, hosts);
    REQUIRE(found.size() == 2);
    CHECK(found.at("pve1").answered);
    CHECK(found.at("pve1").fingerprint_sha256 == kFirst);
    CHECK(found.at("pve2").ip == "10.99.0.2");
    CHECK(found.at("pve2").fingerprint_sha256.empty());
    CHECK(parse_host_presences({}, hosts).at("pve1").ip.empty());
}

TEST_CASE("The host that was asked is reached as the endpoint is") {
    const auto address = address_of("pve1", two_hosts(), one_endpoint());
    REQUIRE(address);
    CHECK(address->url == "https://proxmox.example.com:8006");
    CHECK(address->fingerprint_sha256.empty());
}

TEST_CASE("Another host is reached by its address, and must show its own certificate") {
    const auto address = address_of("pve2", two_hosts(), one_endpoint());
    REQUIRE(address);
    CHECK(address->url == "https://10.99.0.2:8006");
    CHECK(address->fingerprint_sha256 == kSecond);
    CHECK(address_of("pve2", two_hosts("fd00::2"), one_endpoint())->url == "https://[fd00::2]:8006");
}

TEST_CASE("A host whose certificate cannot be verified is not spoken to") {
    CHECK_FALSE(address_of("pve2", two_hosts("10.99.0.2", ""), one_endpoint()));
    CHECK(address_of("pve2", two_hosts("10.99.0.2", ""), one_endpoint(true)));
}

TEST_CASE("An address that no Proxmox host has for others is not connected to") {
    for (const auto* ip :
         {"", "127.0.0.1", "::1", "0.0.0.0", "169.254.169.254", "fe80::1", "224.0.0.1", "pve2"})
        CHECK_FALSE(address_of("pve2", two_hosts(ip), one_endpoint()));
}

TEST_CASE("An endpoint that is the host serves without knowing its address") {
    const Endpoints named{{"https://pve1.example.com:8006", "https://PVE2.example.com:8006"}, "", false};
    CHECK(address_of("pve2", two_hosts("", kSecond), named)->url == "https://PVE2.example.com:8006");
    const Endpoints numbered{{"https://10.99.0.1:8006", "https://10.99.0.2:443"}, "", false};
    CHECK(address_of("pve2", two_hosts(), numbered)->url == "https://10.99.0.2:443");
    CHECK_FALSE(address_of("pve3", two_hosts(), numbered));
}

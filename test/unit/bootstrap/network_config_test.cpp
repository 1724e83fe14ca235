#include "bootstrap/network_config.hpp"

#include <boost/json/parse.hpp>

#include "api/yaml.hpp"
#include "test/support/catch.hpp"

namespace {

using api::v1alpha1::NetworkMode;

boost::json::value made(const bootstrap::NetworkRequest& request) {
    return api::parse_yaml(bootstrap::network_config(request));
}

bootstrap::NetworkRequest known() {
    bootstrap::NetworkRequest request;
    request.interfaces = {{"net0", "BC:24:11:00:00:01", {}}};
    return request;
}

}  // namespace

TEST_CASE("Without anything to say about the network there is no network configuration") {
    CHECK(bootstrap::network_config({}).empty());
    CHECK(bootstrap::network_config(known()).empty());
}

TEST_CASE("DHCP with own nameservers on the interface with the machine's MAC address") {
    auto request = known();
    request.network.nameservers = {"10.0.0.53"};
    CHECK(made(request) == boost::json::parse(R"({"version": 2, "ethernets": {"eth0": {
        "match": {"macaddress": "BC:24:11:00:00:01"}, "set-name": "eth0", "dhcp4": true,
        "nameservers": {"addresses": ["10.0.0.53"], "search": []}}}})"));
}

TEST_CASE("Where the MAC address is not known the interface is known by its name") {
    bootstrap::NetworkRequest request;
    request.network.nameservers = {"10.0.0.53"};
    CHECK(made(request) ==
          boost::json::parse(R"({"version": 2, "ethernets": {"primary": {"match": {"name": "e*"},
              "dhcp4": true, "nameservers": {"addresses": ["10.0.0.53"], "search": []}}}})"));
    request.network.mode = NetworkMode::Static;
    request.network.gateway = "fd00::1";
    request.network.prefixLength = 64;
    request.interfaces = {{"net0", "", {"fd00::5"}}};
    CHECK(made(request).at("ethernets").at("primary").at("routes").at(0).at("to") == "::/0");
    request.network.interfaces.emplace_back().name = "net1";
    CHECK_THROWS_WITH(bootstrap::network_config(request), Catch::Contains("is not known"));
}

TEST_CASE("Each family of each interface has its address, gateway, routes and MTU") {
    auto request = known();
    auto& network = request.network;
    network.mode = NetworkMode::Static;
    CHECK_THROWS_WITH(bootstrap::network_config(request), Catch::Contains("lacks one of its addresses"));
    network.prefixLength = 22;
    network.gateway = "10.0.4.1";
    network.mtu = 1450;
    network.routes = {{"fd09::/48", "fd00::fe"}, {"10.9.0.0/16", "10.0.4.254"}};
    network.ipv6 = api::v1alpha1::IPv6Network{{}, 64, "fd00::1"};
    request.interfaces.front().addresses = {"10.0.4.50", "fd00::5"};
    auto& second = network.interfaces.emplace_back();
    second.name = "net3";
    second.ipv6 = api::v1alpha1::IPv6Network{{}, 64, ""};
    request.interfaces.push_back({"net3", "BC:24:11:00:00:03", {"fd03::5"}});
    CHECK(made(request) == boost::json::parse(R"({"version": 1, "config": [
        {"type": "physical", "name": "eth0", "mac_address": "BC:24:11:00:00:01", "mtu": 1450, "subnets": [
            {"type": "static", "address": "10.0.4.50/22", "gateway": "10.0.4.1",
             "routes": [{"destination": "10.9.0.0/16", "gateway": "10.0.4.254"}]},
            {"type": "static6", "address": "fd00::5/64", "gateway": "fd00::1",
             "routes": [{"destination": "fd09::/48", "gateway": "fd00::fe"}]}]},
        {"type": "physical", "name": "eth3", "mac_address": "BC:24:11:00:00:03", "subnets": [
            {"type": "dhcp4"}, {"type": "static6", "address": "fd03::5/64"}]}]})"));
}

TEST_CASE("The interface of the pool's choice alone has the default route") {
    auto request = known();
    auto& network = request.network;
    network.mode = NetworkMode::Static;
    network.interface = "net1";
    network.gateway = "10.0.4.1";
    auto& other = network.interfaces.emplace_back();
    other.name = "net0";
    other.mode = NetworkMode::Static;
    request.interfaces.front().addresses = {"10.1.0.9"};
    request.interfaces.push_back({"net1", "BC:24:11:00:00:02", {"10.0.4.50"}});
    const auto config = made(request).at("config");
    CHECK(config.at(0).at("name") == "eth1");
    CHECK(config.at(0).at("subnets").at(0).at("gateway") == "10.0.4.1");
    CHECK(config.at(1).at("name") == "eth0");
    CHECK(config.at(1).at("subnets").at(0).as_object().size() == 2);
}

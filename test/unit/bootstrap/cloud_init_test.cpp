#include "bootstrap/cloud_init.hpp"

#include <boost/json/parse.hpp>

#include "api/yaml.hpp"
#include "test/support/catch.hpp"

namespace {

using api::v1alpha1::NetworkMode;

bootstrap::JoinPlan plan() {
    bootstrap::JoinPlan plan;
    plan.files.push_back({"/etc/join.yaml", "a: \"b\"\n# ü\n", "0600"});
    plan.commands.push_back({"join", "--now"});
    return plan;
}

bootstrap::GuestSettings settings() {
    bootstrap::GuestSettings settings;
    settings.hostname = "workers-a1b2c";
    return settings;
}

boost::json::value parse(const std::string& text) {
    return api::parse_yaml(text);
}

}  // namespace

TEST_CASE("User-data names the machine, writes its files and runs its commands") {
    auto guest = settings();
    guest.user = "admin";
    guest.ssh_authorized_keys = {"ssh-ed25519 AAAA me@home"};
    const auto text = bootstrap::user_data(guest, plan());
    CHECK(text.starts_with("#cloud-config\n"));
    CHECK(parse(text) == boost::json::parse(R"({
        "hostname": "workers-a1b2c", "preserve_hostname": false, "manage_etc_hosts": true, "user": "admin",
        "package_upgrade": false, "ssh_authorized_keys": ["ssh-ed25519 AAAA me@home"],
        "write_files": [{"path": "/etc/join.yaml", "owner": "root:root", "permissions": "0600",
                         "content": "a: \"b\"\n# ü\n"}],
        "runcmd": [["join", "--now"]]})"));
}

TEST_CASE("A user's own user-data is kept and prepares the machine before it joins") {
    auto guest = settings();
    guest.user = "admin";
    guest.own_user_data =
        "#cloud-config\nhostname: other\nuser: root\npackages: [htop]\nruncmd:\n- modprobe br_netfilter\n"
        "write_files:\n- {path: /etc/motd, content: hi}\n";
    const auto document = parse(bootstrap::user_data(guest, plan()));
    CHECK(document.at("hostname") == "workers-a1b2c");
    CHECK(document.at("user") == "root");
    CHECK(document.at("packages").at(0) == "htop");
    CHECK(document.at("runcmd").at(0) == "modprobe br_netfilter");
    CHECK(document.at("runcmd").at(1).at(0) == "join");
    CHECK(document.at("write_files").at(0).at("path") == "/etc/motd");
    CHECK(document.at("write_files").at(1).at("path") == "/etc/join.yaml");
}

TEST_CASE("User-data that cannot be merged is refused without showing it") {
    auto guest = settings();
    for (const auto* own :
         {"#!/bin/sh\necho s3cret", "#cloud-config\n- s3cret", "#cloud-config\nruncmd: s3cret",
          "#cloud-config\na: [s3cret", "#cloud-config\ns3cret: &s3cret [*s3cret]"}) {
        guest.own_user_data = own;
        INFO(own);
        CHECK_THROWS_AS(bootstrap::user_data(guest, plan()), bootstrap::OwnUserDataError);
        CHECK_THROWS_WITH(bootstrap::user_data(guest, plan()),
                          Catch::Contains("own user-data") && !Catch::Contains("s3cret"));
    }
}

TEST_CASE("Each attempt is another instance for cloud-init") {
    CHECK(parse(bootstrap::meta_data("uid", 1, "a")) ==
          boost::json::parse(R"({"instance-id": "uid-1", "local-hostname": "a"})"));
    CHECK(bootstrap::meta_data("uid", 1, "a") != bootstrap::meta_data("uid", 2, "a"));
}

TEST_CASE("Without anything to say about the network there is no network configuration") {
    CHECK(bootstrap::network_config({}).empty());
}

TEST_CASE("DHCP with own nameservers, and on a known interface") {
    bootstrap::NetworkRequest request;
    request.network.nameservers = {"10.0.0.53"};
    CHECK(
        parse(bootstrap::network_config(request)) ==
        boost::json::parse(R"({"version": 2, "ethernets": {"primary": {"match": {"name": "e*"}, "dhcp4": true,
                                 "nameservers": {"addresses": ["10.0.0.53"], "search": []}}}})"));
    request.network.nameservers.clear();
    request.mac_address = "bc:24:11:00:00:01";
    CHECK(parse(bootstrap::network_config(request)) ==
          boost::json::parse(R"({"version": 2, "ethernets": {"primary": {
              "match": {"macaddress": "bc:24:11:00:00:01"}, "set-name": "eth0", "dhcp4": true}}})"));
}

TEST_CASE("A static address has its prefix, gateway and nameservers") {
    bootstrap::NetworkRequest request;
    request.network.mode = NetworkMode::Static;
    CHECK_THROWS_AS(bootstrap::network_config(request), std::invalid_argument);
    request.address = "10.0.4.50";
    request.mac_address = "bc:24:11:00:00:01";
    request.network.prefixLength = 22;
    request.network.gateway = "10.0.4.1";
    request.network.nameservers = {"10.0.0.53"};
    request.network.searchDomains = {"example.com"};
    CHECK(parse(bootstrap::network_config(request)) ==
          boost::json::parse(R"({"version": 2, "ethernets": {"primary": {
              "match": {"macaddress": "bc:24:11:00:00:01"}, "set-name": "eth0", "dhcp4": false,
              "addresses": ["10.0.4.50/22"], "routes": [{"to": "0.0.0.0/0", "via": "10.0.4.1"}],
              "nameservers": {"addresses": ["10.0.0.53"], "search": ["example.com"]}}}})"));
    request.address = "fd00::5";
    request.network.gateway = "fd00::1";
    CHECK(
        parse(bootstrap::network_config(request)).at("ethernets").at("primary").at("routes").at(0).at("to") ==
        "::/0");
}

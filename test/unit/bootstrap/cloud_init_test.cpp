#include "bootstrap/cloud_init.hpp"

#include <boost/json/parse.hpp>

#include "api/yaml.hpp"
#include "test/support/catch.hpp"

namespace {

bootstrap::JoinPlan plan() {
    bootstrap::JoinPlan plan;
    plan.files.push_back({"/etc/join.yaml", "a: \"b\"\n# ü\n", "0600"});
    plan.commands.push_back({"join", "--now"});
    return plan;
}

bootstrap::UserDataSettings settings() {
    bootstrap::UserDataSettings settings;
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
        "hostname": "workers-a1b2c", "preserve_hostname": false, "manage_etc_hosts": true, "user": {"name": "admin"},
        "package_upgrade": false, "ssh_authorized_keys": ["ssh-ed25519 AAAA me@home"],
        "write_files": [{"path": "/etc/join.yaml", "owner": "root:root", "permissions": "0600",
                         "content": "a: \"b\"\n# ü\n"}],
        "runcmd": [["join", "--now"], ["touch", "/etc/cloud/cloud-init.disabled"]]})"));
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

#include "bootstrap/custom.hpp"

#include "bootstrap/k3s.hpp"
#include "test/support/catch.hpp"
#include "test/unit/bootstrap/join_requests.hpp"

using api::v1alpha1::BootstrapFormat;

TEST_CASE("Placeholders are replaced wherever they stand") {
    const std::map<std::string, std::string> values{{"Host", "pve1"}, {"Pool", "workers"}};
    CHECK(bootstrap::fill_placeholders("", values).empty());
    CHECK(bootstrap::fill_placeholders("no placeholder }}", values) == "no placeholder }}");
    CHECK(bootstrap::fill_placeholders("{{ .Host }}-{{.Pool}}.{{  .Host}}", values) == "pve1-workers.pve1");
    CHECK(bootstrap::fill_placeholders("{{ .Host }}", {{"Host", "{{ .Pool }}"}}) == "{{ .Pool }}");
}

TEST_CASE("A placeholder that does not exist is named, values are not shown") {
    const std::map<std::string, std::string> values{{"Token", "abcdef.secret"}};
    CHECK_THROWS_WITH(
        bootstrap::fill_placeholders("{{ .Tokn }}", values),
        Catch::Contains("{{ .Tokn }}") && Catch::Contains("{{ .Token }}") && !Catch::Contains("secret"));
    CHECK_THROWS_AS(bootstrap::fill_placeholders("{{ Token }}", values), std::invalid_argument);
    CHECK_THROWS_AS(bootstrap::fill_placeholders("{{ .Token", values), std::invalid_argument);
}

TEST_CASE("A user's join command gets its values filled in and runs as a script") {
    auto custom = test::join_request(BootstrapFormat::Custom);
    custom.given = "k0s join {{ .Token }} {{ .Endpoint }} {{ .CACertHash }} {{ .NodeName }} {{ .Host }}";
    const auto plan = bootstrap::plan_join(custom);
    REQUIRE(plan.files.size() == 1);
    CHECK(plan.files[0].permissions == "0700");
    CHECK(plan.files[0].content == "#!/bin/sh\nk0s join abcdef.0123456789abcdef 10.0.0.1:6443 " +
                                       test::kCAHash + " workers-a1b2c pve1\n");
    CHECK(plan.commands == std::vector<std::vector<std::string>>{{plan.files[0].path}});

    custom.given = "#!/usr/bin/python3\nprint()\n";
    CHECK(bootstrap::plan_join(custom).files[0].content == custom.given);
}

TEST_CASE("All that is known of a machine and its cluster can stand in a user's command") {
    auto custom = test::join_request(BootstrapFormat::Custom);
    custom.pool = "workers";
    custom.zone = "pve1";
    custom.region = "home";
    custom.addresses = {"10.0.4.50", "fd00::50"};
    custom.mac_addresses = {"02:11:22:33:44:50", "02:11:22:33:44:51"};
    custom.kubelet.maxPods = 60;
    custom.kubelet.extraArgs = {{"feature-gates", "A=true B"}};
    const auto told = [&custom](const std::string& name) {
        custom.given = "#!\n{{ ." + name + " }}";
        const auto script = bootstrap::plan_join(custom).files.at(0).content;
        return script.substr(3, script.size() - 4);
    };
    CHECK(told("Server") == "https://10.0.0.1:6443");
    CHECK(told("CACert") + "\n" == test::kCACertificate);
    CHECK(told("K3sCAHash") == bootstrap::k3s_ca_hash(test::kCACertificate));
    CHECK(told("Labels") == "topology.kubenodesmith.io/pool=workers");
    CHECK(told("Taints") == "kubenodesmith.io/unregistered=:NoExecute,gpu=yes:NoSchedule");
    CHECK(told("ProviderID") == "proxmox://pve/vms/100");
    CHECK(told("Pool") == "workers");
    CHECK(told("Zone") == "pve1");
    CHECK(told("Region") == "home");
    CHECK(told("Addresses") == "10.0.4.50,fd00::50");
    CHECK(told("MACAddresses") == "02:11:22:33:44:50,02:11:22:33:44:51");
    CHECK(told("MaxPods") == "60");
    CHECK(told("KubeletArgs") == "'--feature-gates=A=true B' --max-pods=60");
    custom.kubelet = {};
    CHECK(told("MaxPods").empty());
    CHECK(told("KubeletArgs").empty());
}

TEST_CASE("A placeholder in a user's command that does not exist is answered with the known ones") {
    auto custom = test::join_request(BootstrapFormat::Custom);
    custom.given = "join {{ .Tken }}";
    CHECK_THROWS_WITH(bootstrap::plan_join(custom), Catch::Contains("{{ .Tken }}") &&
                                                        Catch::Contains("{{ .ProviderID }}") &&
                                                        !Catch::Contains("0123456789abcdef"));
}

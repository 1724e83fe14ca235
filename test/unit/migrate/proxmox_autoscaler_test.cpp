#include "migrate/proxmox_autoscaler.hpp"
#include "migrate/source.hpp"
#include "test/unit/migrate/migrated.hpp"

using test::Migrated;
using namespace test;

namespace {

constexpr std::string_view kSettings = R"(import os

try:
    pxe_host = os.environ["PXE_HOST"]
    pxe_user = os.environ["PXE_USER"]
    pxe_password = os.environ.get("PXE_PASSWORD")
except KeyError:
    pxe_host = "10.0.0.2"
    pxe_user = "scaler@pam"
    pxe_password = "hash # inside"

pxe_autoscaled_node_template_vm = "worker.tmpl"  # the template
pxe_autoscaled_node_name = 'scaled.node'
pxe_autoscaled_node_network_mode = 'manual'
pxe_autoscaled_node_ip_pool = '10.0.0.30-10.0.0.39'
pxe_autoscaled_node_ip_mask = '23'
pxe_autoscaled_node_ip_gateway = '10.0.0.1'
pxe_autoscaled_node_dns_server = '10.0.0.3'
node_group_label = "example.org/scaled"
min_size = 1
max_size = 7
scan_interval = 15
max_node_provision_time = 700
pxe_vm_lost_cleanup_delay = 200
scale_down_unneeded_time = 500
scale_down_delay = 400
scale_up_delay_after_add = 100
scale_down_delay_after_add = 300
scale_down_delay_after_error = 250
scale_down_utilization_threshold = 40
max_total_unready_percentage = 35
ok_total_unready_count = 2
)";

Migrated migrated(std::string_view text, bool with_secrets = false) {
    return Migrated(migrate::migrate_proxmox_autoscaler(text, {}), with_secrets);
}

api::Duration seconds(int count) {
    return std::chrono::seconds(count);
}

}  // namespace

TEST_CASE("settings.py of proxmox-autoscaler becomes a provider, a pool and a control plane") {
    const auto result = migrated(kSettings, true);
    const auto provider = result.only<NodeSmithProvider>();
    const auto& proxmox = *provider.spec.proxmox;
    CHECK(proxmox.endpoint == "https://10.0.0.2:8006/api2/json");
    CHECK(proxmox.tls.insecureSkipVerify);
    CHECK(proxmox.template_->name == "worker.tmpl");
    CHECK(proxmox.cloudInit->network ==
          MachineNetwork{"", NetworkMode::Static, {"10.0.0.30-10.0.0.39"}, 23, "10.0.0.1", {"10.0.0.3"}, {}});
    CHECK(provider.spec.orphanGracePeriod == seconds(200));

    const auto pool = result.only<NodeSmithPool>();
    CHECK(pool.metadata.name == "scaled.node");
    CHECK(pool.spec.limits.minNodes == 1);
    CHECK(pool.spec.limits.maxNodes == 7);
    CHECK(pool.spec.machineTemplate.labels == api::StringMap{{"example.org/scaled", "true"}});
    CHECK(pool.spec.scaleUp.registrationTimeout == seconds(700));
    CHECK(pool.spec.scaleUp.stabilizationWindow == seconds(100));
    CHECK(pool.spec.scaleDown.unneededDuration == seconds(500));
    CHECK(pool.spec.scaleDown.delayAfterDelete == seconds(400));
    CHECK(pool.spec.scaleDown.stabilizationWindow == seconds(300));
    CHECK(pool.spec.scaleDown.delayAfterFailure == seconds(250));
    CHECK(pool.spec.scaleDown.utilizationThresholdPercent == 40);
    CHECK(pool.spec.bootstrap->method == BootstrapMethod::GuestAgent);
    CHECK(pool.spec.bootstrap->format == BootstrapFormat::Kubeadm);

    const auto control_plane = result.only<NodeSmithControlPlane>();
    CHECK(control_plane.spec.health == ClusterHealth{35, 2});
    const auto* secret = result.document("Secret", "proxmox");
    REQUIRE(secret);
    CHECK(secret->at("stringData").at("PROXMOX_USERNAME").as_string() == "scaler@pam");
    CHECK(secret->at("stringData").at("PROXMOX_PASSWORD").as_string() == "hash # inside");
    CHECK_THAT(migrate::text_of(result.report), !Catch::Contains("inside"));
}

TEST_CASE("settings.py is found in the ConfigMap that mounts it, and its environment beside it") {
    std::string text = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: credentials}
data: {PXE_HOST: 10.0.0.9, PXE_USER: other@pam, PXE_PASSWORD: word}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data:
  settings: |
)";
    for (const char c : "\n" + std::string(kSettings)) {
        text += c;
        if (c == '\n') text += "    ";
    }
    const auto result = migrated(text, true);
    CHECK(result.only<NodeSmithProvider>().spec.proxmox->endpoint == "https://10.0.0.9:8006/api2/json");
    CHECK(result.document("Secret", "proxmox")->at("stringData").at("PROXMOX_USERNAME").as_string() ==
          "other@pam");
}

TEST_CASE("with DHCP no addresses are kept") {
    const auto result = migrated(R"(
pxe_host = "https://pve:8006/api2/json"
pxe_autoscaled_node_template_vm = "t"
pxe_autoscaled_node_network_mode = "dhcp"
pxe_autoscaled_node_ip_pool = "10.0.0.30"
pxe_autoscaled_node_dns_server = "10.0.0.3"
)");
    const auto provider = result.only<NodeSmithProvider>();
    CHECK(provider.spec.proxmox->cloudInit->network ==
          MachineNetwork{"", NetworkMode::DHCP, {}, 24, "", {"10.0.0.3"}, {}});
    CHECK(provider.spec.proxmox->endpoint == "https://pve:8006/api2/json");
}

TEST_CASE("a line without end is refused, and ends no program") {
    const auto settings = "proxmox_host = 1\nvalue = \"" + std::string(3'000'000, 'x') + "\"\n";
    CHECK_THROWS_WITH(migrate::read_settings(settings), Catch::Contains("line 2: more than 4096 characters"));
    CHECK_THROWS(migrate::read_settings("KEY=" + std::string(3'000'000, 'x') + "\n"));
}

TEST_CASE("an expression in settings.py is refused with its line") {
    CHECK_THROWS_WITH(migrate::read_python_settings("a = 1\nmax_size = 2 + 3\n", {}),
                      Catch::Contains("line 2: max_size is an expression"));
    CHECK_THROWS_WITH(migrate::read_python_settings("def f():\n", {}), Catch::Contains("line 1"));
    CHECK(migrate::read_python_settings("a = os.getenv('A', 'b')\nc = 1.5\nd = True\n", {}) ==
          boost::json::object{{"a", "b"}, {"c", 1.5}, {"d", true}});
}

#include "bootstrap/k3s.hpp"

#include "api/yaml.hpp"
#include "base/hex.hpp"
#include "base/sha256.hpp"
#include "test/support/catch.hpp"
#include "test/unit/bootstrap/join_requests.hpp"

namespace {

using api::v1alpha1::BootstrapFormat;

bootstrap::JoinRequest request(BootstrapFormat format = BootstrapFormat::K3s) {
    return test::join_request(format);
}

boost::json::value config_of(const bootstrap::JoinRequest& request) {
    return api::parse_yaml(bootstrap::plan_join(request).files.at(0).content);
}

}  // namespace

TEST_CASE("A K3s agent gets a configuration file") {
    const auto plan = bootstrap::plan_join(request());
    REQUIRE(plan.files.size() == 1);
    CHECK(plan.files[0].path == "/etc/rancher/k3s/config.yaml");
    CHECK(plan.files[0].permissions == "0600");
    const auto config = config_of(request());
    CHECK(config.at("server") == "https://10.0.0.1:6443");
    CHECK(config.at("node-name") == "workers-a1b2c");
    CHECK(config.at("node-taint").at(0) == "kubenodesmith.io/unregistered=:NoExecute");
    CHECK(config.at("node-label").as_array().size() == 1);
    CHECK(config.at("kubelet-arg").at(0) == "provider-id=proxmox://pve/vms/100");
    CHECK_THAT(std::string(config.at("token").as_string()),
               Catch::Matches("K10[0-9a-f]{64}::abcdef\\.0123456789abcdef"));
}

TEST_CASE("A K3s agent's kubelet is told what the pool says") {
    auto told = request();
    told.provider_id.clear();
    told.kubelet.maxPods = 60;
    told.kubelet.extraArgs = {{"v", "2"}};
    CHECK(config_of(told).at("kubelet-arg") == boost::json::array{"v=2", "max-pods=60"});
    told.kubelet = {};
    CHECK_FALSE(config_of(told).as_object().contains("kubelet-arg"));
}

TEST_CASE("K3s is installed in the version of the server, or is that of the image") {
    auto versioned = request();
    CHECK_THAT(bootstrap::plan_join(versioned).commands.at(0).back(),
               !Catch::Contains("curl") && Catch::Contains("no version of K3s"));
    versioned.cluster.release = "v1.33.1+k3s1";
    CHECK_THAT(bootstrap::plan_join(versioned).commands.at(0).back(),
               Catch::Contains("| INSTALL_K3S_VERSION='v1.33.1+k3s1' INSTALL_K3S_EXEC=agent sh -"));
}

TEST_CASE("An RKE2 agent is told the same at other places") {
    auto rke2 = request(BootstrapFormat::RKE2);
    rke2.cluster.server = "https://10.0.0.1:9345";
    rke2.cluster.release = "v1.33.1+rke2r1";
    const auto plan = bootstrap::plan_join(rke2);
    CHECK(plan.files.at(0).path == "/etc/rancher/rke2/config.yaml");
    const auto config = config_of(rke2);
    CHECK(config.at("server") == "https://10.0.0.1:9345");
    CHECK(config.at("token").as_string() == bootstrap::k3s_token(rke2.token, rke2.cluster.ca_pem));
    CHECK(config.at("node-taint").at(1) == "gpu=yes:NoSchedule");
    const auto& start = plan.commands.at(0).back();
    CHECK_THAT(start,
               Catch::Contains("systemctl enable --now rke2-agent; else curl") &&
                   Catch::Contains("| INSTALL_RKE2_VERSION='v1.33.1+rke2r1' INSTALL_RKE2_TYPE=agent sh -"));
}

TEST_CASE("The version that a pool asks for goes before the server's, which may be of something else") {
    auto asked = request();
    asked.cluster.release = "v1.33.1+k3s1";
    asked.version = "v1.32.5+k3s1";
    CHECK_THAT(bootstrap::plan_join(asked).commands.at(0).back(), Catch::Contains("='v1.32.5+k3s1'"));
    asked.version.clear();
    asked.cluster.release = "v1.33.1+rke2r1";
    CHECK_THAT(bootstrap::plan_join(asked).commands.at(0).back(),
               !Catch::Contains("curl") && Catch::Contains("set bootstrap.version"));
}

TEST_CASE("An agent knows its server by what K3s itself computes of the CA") {
    // `sha256sum` of the file gives this value.
    CHECK(bootstrap::k3s_ca_hash(test::kIntermediateCertificate) ==
          "40413fca3119725bdfcb993e155bc55963b5344ecddb26bcee3a2751fb083fff");
    CHECK(bootstrap::k3s_ca_hash(test::kIntermediateCertificate + test::kRootCertificate) ==
          test::kRootFingerprint);
    // If the certificates do not sign each other, it is the `sha256sum` of all of them.
    const auto strangers = test::kIntermediateCertificate + test::kCACertificate;
    CHECK(bootstrap::k3s_ca_hash(strangers) == base::hex(base::sha256(strangers)));
    CHECK_THROWS_AS(bootstrap::k3s_ca_hash("ca"), std::invalid_argument);
    CHECK(bootstrap::k3s_token({"a", "b"}, test::kIntermediateCertificate) ==
          "K1040413fca3119725bdfcb993e155bc55963b5344ecddb26bcee3a2751fb083fff::a.b");
}

#include "bootstrap/settings.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "api/json.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/yaml.hpp"
#include "test/support/catch.hpp"

using namespace api::v1alpha1;

namespace {

Bootstrap by_cloud_init(BootstrapFormat format) {
    Bootstrap settings;
    settings.method = BootstrapMethod::CloudInit;
    settings.format = format;
    return settings;
}

}  // namespace

TEST_CASE("Most ways to join contradict nothing") {
    for (const auto format : {BootstrapFormat::Kubeadm, BootstrapFormat::K3s, BootstrapFormat::RKE2,
                              BootstrapFormat::K0s, BootstrapFormat::Custom}) {
        auto settings = by_cloud_init(format);
        CHECK(bootstrap::contradiction(settings).empty());
        settings.method = BootstrapMethod::GuestAgent;
        CHECK(bootstrap::contradiction(settings).empty());
    }
    Bootstrap by_itself;
    by_itself.format = BootstrapFormat::Talos;
    CHECK(bootstrap::contradiction(by_itself).empty());
}

TEST_CASE("A token is good for one Node where the operator approves what is asked for with it") {
    for (const auto format : {BootstrapFormat::Kubeadm, BootstrapFormat::Talos, BootstrapFormat::Custom}) {
        auto settings = by_cloud_init(format);
        CHECK(bootstrap::binds_tokens(settings));
        settings.approval = BootstrapApproval::Cluster;
        CHECK_FALSE(bootstrap::binds_tokens(settings));
    }
    for (const auto format : {BootstrapFormat::K3s, BootstrapFormat::RKE2, BootstrapFormat::K0s})
        CHECK_FALSE(bootstrap::binds_tokens(by_cloud_init(format)));
}

TEST_CASE("Talos needs a machine configuration and boot data to carry it") {
    auto talos = by_cloud_init(BootstrapFormat::Talos);
    CHECK_THAT(bootstrap::contradiction(talos), Catch::Contains("machineConfigSecretRef"));
    talos.machineConfigSecretRef = SecretKeyReference{"talos", "worker.yaml"};
    CHECK(bootstrap::contradiction(talos).empty());
    talos.userData = BootstrapUserData::Ignition;
    CHECK_THAT(bootstrap::contradiction(talos), Catch::Contains("userData"));
    talos.userData = BootstrapUserData::CloudConfig;
    talos.method = BootstrapMethod::GuestAgent;
    CHECK_THAT(bootstrap::contradiction(talos), Catch::Contains("method CloudInit"));
}

TEST_CASE("Ignition reads an ISO only") {
    auto ignition = by_cloud_init(BootstrapFormat::K3s);
    ignition.userData = BootstrapUserData::Ignition;
    CHECK(bootstrap::contradiction(ignition).empty());
    ignition.delivery = BootstrapDelivery::HTTP;
    CHECK_THAT(bootstrap::contradiction(ignition), Catch::Contains("delivery ISO"));
    ignition.delivery = BootstrapDelivery::ISO;
    ignition.method = BootstrapMethod::GuestAgent;
    CHECK_THAT(bootstrap::contradiction(ignition), Catch::Contains("method CloudInit"));
}

TEST_CASE("A version is one of K3s or RKE2, and nothing that a shell would run") {
    auto settings = by_cloud_init(BootstrapFormat::K3s);
    settings.version = "v1.33.1+k3s1";
    CHECK(bootstrap::contradiction(settings).empty());
    for (const auto* version : {"latest", "v1.33.1", "v1.33.1+k3s1'; reboot; '"}) {
        settings.version = version;
        CHECK_THAT(bootstrap::contradiction(settings), Catch::Contains("bootstrap.version is not a version"));
    }
    settings.format = BootstrapFormat::Kubeadm;
    CHECK_THAT(bootstrap::contradiction(settings), Catch::Contains("K3s and RKE2"));
}

TEST_CASE("There is a sample for each format, and none contradicts itself") {
    std::set<BootstrapFormat> formats;
    const auto folder = std::filesystem::path(KUBENODESMITH_SOURCE) / "samples/formats";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream file(entry.path());
        const std::string text(std::istreambuf_iterator<char>(file), {});
        for (const auto& document : api::parse_yaml_documents(text)) {
            if (document.at("kind") != "NodeSmithPool") continue;
            INFO(entry.path().string());
            const auto settings = api::decode<NodeSmithPool>(document).spec.bootstrap.value();
            CHECK(bootstrap::contradiction(settings).empty());
            formats.insert(settings.format);
        }
    }
    CHECK(formats == std::set{BootstrapFormat::Kubeadm, BootstrapFormat::K3s, BootstrapFormat::RKE2,
                              BootstrapFormat::K0s, BootstrapFormat::Talos, BootstrapFormat::Custom});
}

// Common programs can unpack a k0s token, which is the kubeconfig that k0s expects.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "api/yaml.hpp"
#include "bootstrap/k0s.hpp"
#include "test/support/catch.hpp"
#include "test/unit/bootstrap/join_requests.hpp"

namespace {

std::string unpacked(const std::string& token) {
    const auto folder = std::filesystem::temp_directory_path() / ("k0s-" + std::to_string(std::rand()));
    std::filesystem::create_directory(folder);
    const auto packed = folder / "token";
    std::ofstream(packed) << token;
    const auto result = folder / "kubeconfig";
    const auto command = "base64 -d " + packed.string() + " | gzip -dc > " + result.string();
    CHECK(std::system(("bash -c 'set -o pipefail; " + command + "'").c_str()) == 0);
    std::ifstream file(result);
    std::string text(std::istreambuf_iterator<char>(file), {});
    std::filesystem::remove_all(folder);
    return text;
}

}  // namespace

TEST_CASE("gzip and base64 unpack a k0s token to a kubeconfig with a bootstrap token") {
    auto request = test::join_request(api::v1alpha1::BootstrapFormat::K0s);
    const auto config = api::parse_yaml(unpacked(bootstrap::k0s_token(request)));
    CHECK(config.at("kind") == "Config");
    CHECK(config.at("current-context") == config.at("contexts").at(0).at("name"));
    CHECK(config.at("users").at(0).at("name") == "kubelet-bootstrap");
    CHECK(config.at("users").at(0).at("user").at("token") == "abcdef.0123456789abcdef");
    CHECK(config.at("clusters").at(0).at("cluster").at("server") == "https://10.0.0.1:6443");
}

TEST_CASE("a k0s token is unpacked whatever the size of the CA bundle") {
    auto request = test::join_request(api::v1alpha1::BootstrapFormat::K0s);
    for (int i = 0; i < 200; ++i) request.cluster.ca_pem += test::kCACertificate;
    const auto config = api::parse_yaml(unpacked(bootstrap::k0s_token(request)));
    CHECK(config.at("users").at(0).at("user").at("token") == "abcdef.0123456789abcdef");
}

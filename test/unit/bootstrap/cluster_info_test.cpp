#include "bootstrap/cluster_info.hpp"

#include <boost/json/parse.hpp>

#include "test/support/catch.hpp"
#include "test/unit/bootstrap/certificate.hpp"

namespace {

api::ConfigMap cluster_info(const std::string& kubeconfig) {
    api::ConfigMap map;
    map.data["kubeconfig"] = kubeconfig;
    return map;
}

std::string kubeconfig() {
    return "apiVersion: v1\nkind: Config\nclusters:\n- cluster:\n    certificate-authority-data: " +
           api::Bytes{test::kCACertificate}.str() +
           "\n    server: https://10.0.0.1:6443\n  name: \"\"\nusers: null\n";
}

}  // namespace

TEST_CASE("cluster-info names the API server and its CA") {
    const auto info = bootstrap::parse_cluster_info(cluster_info(kubeconfig()));
    CHECK(info.server == "https://10.0.0.1:6443");
    CHECK(info.endpoint() == "10.0.0.1:6443");
    CHECK(info.ca_pem == test::kCACertificate);
}

TEST_CASE("What is missing in cluster-info is named") {
    CHECK_THROWS_WITH(bootstrap::parse_cluster_info({}), Catch::Contains("key kubeconfig is missing"));
    CHECK_THROWS_WITH(bootstrap::parse_cluster_info(cluster_info("clusters: []")),
                      Catch::Contains("has no cluster"));
    CHECK_THROWS_WITH(bootstrap::parse_cluster_info(cluster_info("clusters: [{cluster: {}}]")),
                      Catch::Contains("names no server"));
    CHECK_THROWS_WITH(
        bootstrap::parse_cluster_info(cluster_info("clusters: [{cluster: {server: https://a}}]")),
        Catch::Contains("certificate-authority-data"));
}

TEST_CASE("A cluster-info that is no YAML document is refused as such") {
    api::ConfigMap cluster_info;
    cluster_info.data["kubeconfig"] = "a: 1\n---\nb: 2\n";
    CHECK_THROWS_AS(bootstrap::parse_cluster_info(cluster_info), std::invalid_argument);
}

TEST_CASE("An endpoint of the user's replaces the one of cluster-info") {
    const bootstrap::ClusterInfo info{"https://10.0.0.1:6443", "ca"};
    CHECK(bootstrap::with_endpoint(info, "").server == "https://10.0.0.1:6443");
    CHECK(bootstrap::with_endpoint(info, "vip.example:6443").endpoint() == "vip.example:6443");
    CHECK(bootstrap::with_endpoint(info, "https://vip.example").endpoint() == "vip.example:443");
    CHECK_THROWS_AS(bootstrap::with_endpoint(info, "http://vip.example").endpoint(), std::invalid_argument);
}

TEST_CASE("A CA is pinned by the hash of its public key") {
    CHECK(bootstrap::ca_cert_hashes(test::kCACertificate) == std::vector{test::kCAHash});
    CHECK(bootstrap::ca_cert_hashes(test::kCACertificate + test::kCACertificate).size() == 2);
    CHECK_THROWS_AS(bootstrap::ca_cert_hashes("no certificate"), std::invalid_argument);
}

TEST_CASE("A cluster that kubeadm did not make is known by its root CA and the address that the user gives") {
    api::ConfigMap root_ca;
    root_ca.data["ca.crt"] = test::kCACertificate;
    const auto info = bootstrap::cluster_info_of_root_ca(root_ca, "10.0.0.9:6443");
    CHECK(info.server == "https://10.0.0.9:6443");
    CHECK(info.ca_pem == test::kCACertificate);
    root_ca.data.clear();
    CHECK_THROWS_WITH(bootstrap::cluster_info_of_root_ca(root_ca, "10.0.0.9:6443"),
                      Catch::Contains("ca.crt"));
}

TEST_CASE("The API server's version is read as distributions write it") {
    using boost::json::parse;
    CHECK(bootstrap::minor_version(parse(R"({"major": "1", "minor": "30"})")) == 30);
    CHECK(bootstrap::minor_version(parse(R"({"major": "1", "minor": "31+"})")) == 31);
    CHECK(bootstrap::minor_version(parse(R"({"gitVersion": "v1.30.2"})")) == 0);
}

TEST_CASE("A version of K3s or RKE2 is taken only as it is written") {
    using boost::json::parse;
    CHECK(bootstrap::release_version(parse(R"({"gitVersion": "v1.33.1+k3s1"})")) == "v1.33.1+k3s1");
    CHECK(bootstrap::release_version(parse(R"({"gitVersion": "v1.33.1-rc2+k3s1"})")) == "v1.33.1-rc2+k3s1");
    CHECK(bootstrap::release_version(parse(R"({"gitVersion": "v1.33.1+rke2r1"})")) == "v1.33.1+rke2r1");
    for (const char* other :
         {R"({"gitVersion": "v1.30.2"})", R"({"gitVersion": "v1.30.2+k0s"})", "{}",
          R"({"gitVersion": "v1.33.1+k3s1'; reboot; '"})", R"({"gitVersion": "v1.33.1+k3s1\nx"})"})
        CHECK(bootstrap::release_version(parse(other)).empty());
}

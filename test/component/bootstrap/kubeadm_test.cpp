// kubeadm itself judges rendered join configurations. The test exits with 77 if kubeadm is missing.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "bootstrap/kubeadm.hpp"
#include "test/support/catch.hpp"

namespace {

constexpr const char* kCA = R"(-----BEGIN CERTIFICATE-----
MIIBgjCCASegAwIBAgIUfJqdjpzYdhikpeljI74GYwfvnYMwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKa3ViZXJuZXRlczAgFw0yNjExMjEwODU3MjdaGA8yMTI2MTAy
ODA4NTcyN1owFTETMBEGA1UEAwwKa3ViZXJuZXRlczBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABGQXd/AA7yJRRZWD+Mi3voB8Fdjkk0aEmqQkIe7WEwY66AkrLPa9
HHyyc6hwHTiHL1WWgjTKo0fgXh1FYvaPesGjUzBRMB0GA1UdDgQWBBTHcT4X/MOF
tTI43qf7opghEiL1wTAfBgNVHSMEGDAWgBTHcT4X/MOFtTI43qf7opghEiL1wTAP
BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQDEt1HBGfbZ66sC4hW/
mFyrPDwS7qQJ4PkK7GZB7J4maAIhAIOEzwxr00YK1RXNODQ/EoOH2nEaHKVv7AqJ
MC9aobU8
-----END CERTIFICATE-----
)";

constexpr const char* kNewest = "kubeadm";
constexpr const char* kOldest = "kubeadm-oldest";  // kubeadm of the oldest version that we support

std::string path_of(const std::string& program) {
    const char* folder = std::getenv("CONTROLPLANE_BIN");
    for (const auto* candidate : {folder, DEFAULT_CONTROLPLANE_BIN}) {
        if (candidate == nullptr) continue;
        const auto path = std::filesystem::path(candidate) / program;
        if (std::filesystem::exists(path)) return path;
    }
    std::cout << "skipped: there is no " << program << "; `make setup` builds it\n";
    std::exit(77);
}

// Returns the exit status of `kubeadm config validate`. Its complaints are part of the test's output.
int validate(const std::string& configuration, const char* program = kNewest) {
    const auto file =
        std::filesystem::temp_directory_path() / ("join-" + std::to_string(std::rand()) + ".yaml");
    std::ofstream(file) << configuration;
    const int status = std::system((path_of(program) + " config validate --config " + file.string()).c_str());
    std::filesystem::remove(file);
    return status;
}

bootstrap::JoinRequest request() {
    bootstrap::JoinRequest request;
    request.token = {"abcdef", "0123456789abcdef"};
    request.cluster = {"https://10.0.0.1:6443", kCA};
    request.node_name = "workers-a1b2c";
    return request;
}

// Returns a request that sets every field of a join configuration.
bootstrap::JoinRequest full_request() {
    auto full = request();
    full.cluster.server = "https://[fd00::1]:6443";
    full.labels = {{"topology.kubenodesmith.io/pool", "workers"}, {"example.com/quoted", "true"}};
    full.taints =
        bootstrap::registration_taints({{"gpu", "yes", "NoSchedule", {}}}, {{"cni", "", "NoExecute", {}}});
    full.provider_id = "proxmox://pve/vms/100";
    full.kubelet.extraArgs = {{"v", "2"}, {"image-gc-high-threshold", "80"}};
    full.kubelet.maxPods = 250;
    full.kubelet.cloudProviderExternal = true;
    return full;
}

}  // namespace

TEST_CASE("kubeadm accepts the join configurations that we render") {
    auto plain = request();
    CHECK(validate(bootstrap::kubeadm_join_configuration(plain)) == 0);

    auto full = full_request();
    CHECK(validate(bootstrap::kubeadm_join_configuration(full)) == 0);
}

TEST_CASE("kubeadm of the oldest version that we promise accepts what we render for a cluster of it") {
    auto plain = request();
    auto full = full_request();
    plain.cluster.minor = full.cluster.minor = 29;
    CHECK(validate(bootstrap::kubeadm_join_configuration(plain), kOldest) == 0);
    CHECK(validate(bootstrap::kubeadm_join_configuration(full), kOldest) == 0);

    full.cluster.minor = 30;
    CHECK(validate(bootstrap::kubeadm_join_configuration(full), kOldest) == 0);
    full.cluster.minor = 31;
    CHECK(validate(bootstrap::kubeadm_join_configuration(full), kOldest) != 0);
}

TEST_CASE("kubeadm refuses what is wrong, so its consent means something") {
    auto configuration = bootstrap::kubeadm_join_configuration(request());
    configuration.replace(configuration.find("nodeRegistration"), 16, "nodeRegistrations");
    CHECK(validate(configuration) != 0);
}

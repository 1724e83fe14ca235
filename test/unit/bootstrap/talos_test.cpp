#include "bootstrap/talos.hpp"

#include <boost/json/parse.hpp>

#include "api/bytes.hpp"
#include "api/yaml.hpp"
#include "test/support/catch.hpp"
#include "test/unit/bootstrap/join_requests.hpp"

namespace {

// `talosctl gen config` writes worker.yaml like this; it is shortened here.
const std::string kWorker = R"(version: v1alpha1
debug: false
machine:
    type: worker
    token: machine.secretsecretsec
    ca:
        crt: LS0tLS1CRUdJTg==
        key: ""
    kubelet:
        image: ghcr.io/siderolabs/kubelet:v1.36.0
        defaultRuntimeSeccompProfileEnabled: true
    install:
        disk: /dev/sda
cluster:
    id: 0raF93qnkMvF-FZNuvyGozXNdLiT2FOWSlyBaW4PR-w=
    secret: pofHbABZq7VXuObsdLdy/bHmz6hlMHZ3p8+6WKrv1ic=
    controlPlane:
        endpoint: https://10.0.0.9:6443
    token: cluste.secretsecretsec
    ca:
        crt: LS0tLS1CRUdJTiBD
        key: ""
)";

bootstrap::JoinRequest request(const std::string& given = kWorker) {
    auto request = test::join_request(api::v1alpha1::BootstrapFormat::Talos);
    request.given = given;
    return request;
}

boost::json::value config_of(const bootstrap::JoinRequest& request) {
    return api::parse_yaml_documents(bootstrap::talos_machine_config(request)).front();
}

}  // namespace

TEST_CASE("A Talos machine boots with a machine configuration and nothing else") {
    const auto plan = bootstrap::plan_join(request());
    CHECK(plan.files.empty());
    CHECK(plan.commands.empty());
    CHECK_THAT(plan.document, !Catch::StartsWith("#cloud-config"));
    CHECK(plan.document == bootstrap::talos_machine_config(request()));
}

TEST_CASE("What makes a machine this Node is set in the user's machine configuration, the rest is kept") {
    auto told = request();
    told.kubelet.maxPods = 60;
    auto expected = api::parse_yaml(kWorker);
    auto& machine = expected.at("machine").as_object();
    machine["network"] = {{"hostname", "workers-a1b2c"}};
    machine.at("kubelet").as_object()["extraArgs"] = {
        {"node-labels", "topology.kubenodesmith.io/pool=workers"},
        {"register-with-taints", "kubenodesmith.io/unregistered=:NoExecute,gpu=yes:NoSchedule"},
        {"max-pods", "60"},
        {"provider-id", "proxmox://pve/vms/100"}};
    expected.at("cluster").as_object()["token"] = "abcdef.0123456789abcdef";
    CHECK(config_of(told) == expected);
}

TEST_CASE("Labels and taints that the user gives kubelets in a machine configuration stay") {
    auto own = kWorker;
    own.replace(own.find("    install:"), 0, "        extraArgs: {node-labels: a=b, v: '3'}\n");
    const auto config = config_of(request(own));
    const auto& arguments = config.at("machine").at("kubelet").at("extraArgs");
    CHECK(arguments.at("node-labels") == "a=b,topology.kubenodesmith.io/pool=workers");
    CHECK(arguments.at("v") == "3");
}

TEST_CASE("Where the host name is a document of its own, the Node's name stands there") {
    const auto documents = api::parse_yaml_documents(bootstrap::talos_machine_config(
        request(kWorker + "---\napiVersion: v1alpha1\nkind: HostnameConfig\nauto: stable\n" +
                "---\napiVersion: v1alpha1\nkind: WatchdogTimerConfig\ndevice: /dev/watchdog0\n")));
    REQUIRE(documents.size() == 3);
    CHECK_FALSE(documents[0].at("machine").as_object().contains("network"));
    CHECK(documents[1] == boost::json::parse(R"({"apiVersion": "v1alpha1", "kind": "HostnameConfig",
                                                 "hostname": "workers-a1b2c"})"));
    CHECK(documents[2].at("device") == "/dev/watchdog0");
}

TEST_CASE("Endpoint and CA of the cluster are added to a machine configuration that lacks them") {
    const auto config = config_of(request("machine: {token: a.b}\n"));
    CHECK(config.at("machine").at("type") == "worker");
    const auto& cluster = config.at("cluster");
    CHECK(cluster.at("controlPlane").at("endpoint") == "https://10.0.0.1:6443");
    CHECK(cluster.at("ca").at("crt").as_string() == api::Bytes{test::kCACertificate}.str());
}

TEST_CASE("A machine configuration that cannot be one of a worker is refused without its text") {
    const auto refusal = [](const std::string& given) {
        try {
            bootstrap::talos_machine_config(request(given));
        } catch (const std::invalid_argument& error) {
            CHECK_THAT(error.what(), Catch::Contains("machineConfigSecretRef") && !Catch::Contains("s3cret"));
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK_THAT(refusal("machine: {type: controlplane, token: s3cret}\n"), Catch::Contains("type worker"));
    CHECK_THAT(refusal("machine: {type: worker}\n"), Catch::Contains("machine.token"));
    CHECK_THAT(refusal("machine: [s3cret]\n"), Catch::Contains("mapping at machine"));
    CHECK_THAT(refusal("cluster: {secret: s3cret}\n"), Catch::Contains("talosctl gen config"));
    CHECK_THAT(refusal("s3cret\n"), Catch::Contains("not a mapping"));
    CHECK_THAT(refusal("machine: {token: 's3cret\n"), Catch::Contains("line"));
}

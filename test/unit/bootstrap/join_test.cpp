#include "bootstrap/join.hpp"

#include <boost/json/parse.hpp>

#include "api/yaml.hpp"
#include "bootstrap/kubeadm.hpp"
#include "bootstrap/kubelet.hpp"
#include "test/support/catch.hpp"
#include "test/unit/bootstrap/join_requests.hpp"

namespace {

using api::v1alpha1::BootstrapFormat;

bootstrap::JoinRequest request(BootstrapFormat format = BootstrapFormat::Kubeadm) {
    return test::join_request(format);
}

boost::json::value json_of(const std::string& yaml) {
    return api::parse_yaml(yaml);
}

}  // namespace

TEST_CASE("A machine joins through a kubeadm configuration that only root can read") {
    const auto plan = bootstrap::plan_join(request());
    REQUIRE(plan.files.size() == 1);
    CHECK(plan.files[0].path == "/etc/kubernetes/kubenodesmith-join.yaml");
    CHECK(plan.files[0].permissions == "0600");
    CHECK(plan.commands == std::vector<std::vector<std::string>>{
                               {"kubeadm", "join", "--config", "/etc/kubernetes/kubenodesmith-join.yaml"}});
}

TEST_CASE("The join configuration says where, with what proof, and as whom") {
    const auto expected = boost::json::parse(R"({
        "apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "JoinConfiguration",
        "discovery": {"bootstrapToken": {"apiServerEndpoint": "10.0.0.1:6443", "token": "abcdef.0123456789abcdef",
                                         "caCertHashes": ["@HASH@"]}},
        "nodeRegistration": {"name": "workers-a1b2c",
            "taints": [{"key": "kubenodesmith.io/unregistered", "effect": "NoExecute"},
                       {"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
            "kubeletExtraArgs": [{"name": "node-labels", "value": "topology.kubenodesmith.io/pool=workers"},
                                 {"name": "provider-id", "value": "proxmox://pve/vms/100"}]}})");
    auto document = json_of(bootstrap::kubeadm_join_configuration(request()));
    auto& hash = document.at("discovery").at("bootstrapToken").at("caCertHashes").at(0);
    CHECK(hash.as_string() == test::kCAHash);
    hash = "@HASH@";
    CHECK(document == expected);
}

TEST_CASE("A cluster before 1.31 gets the configuration that its kubeadm reads") {
    auto old = request();
    old.cluster.minor = 30;
    const auto before = json_of(bootstrap::kubeadm_join_configuration(old));
    CHECK(before.at("apiVersion") == "kubeadm.k8s.io/v1beta3");
    CHECK(before.at("nodeRegistration").at("kubeletExtraArgs") ==
          boost::json::parse(R"({"node-labels": "topology.kubenodesmith.io/pool=workers",
                                 "provider-id": "proxmox://pve/vms/100"})"));
    old.cluster.minor = 31;
    CHECK(json_of(bootstrap::kubeadm_join_configuration(old)).at("apiVersion") == "kubeadm.k8s.io/v1beta4");
}

TEST_CASE("What a pool says about its kubelets is given to each of them") {
    auto told = request();
    told.labels.clear();
    told.provider_id.clear();
    told.kubelet.extraArgs = {{"v", "2"}, {"feature-gates", "A=true"}};
    told.kubelet.maxPods = 250;
    told.kubelet.cloudProviderExternal = true;
    const auto arguments = [&] {
        return json_of(bootstrap::kubeadm_join_configuration(told))
            .at("nodeRegistration")
            .at("kubeletExtraArgs");
    };
    CHECK(arguments() == boost::json::parse(R"([{"name": "feature-gates", "value": "A=true"},
        {"name": "v", "value": "2"}, {"name": "max-pods", "value": "250"},
        {"name": "cloud-provider", "value": "external"}])"));
    told.cluster.minor = 29;
    CHECK(arguments() == boost::json::parse(R"({"feature-gates": "A=true", "v": "2", "max-pods": "250",
                                                "cloud-provider": "external"})"));
}

TEST_CASE("Arguments of the kubelet that are not the pool's to set are refused by name, with a remedy") {
    const auto problem = [](const std::string& name, const std::string& value) {
        api::v1alpha1::Kubelet kubelet;
        kubelet.extraArgs[name] = value;
        return bootstrap::kubelet_problem(kubelet);
    };
    for (const auto* name :
         {"node-labels", "register-with-taints", "provider-id", "node-ip", "hostname-override", "kubeconfig",
          "bootstrap-kubeconfig", "config", "cloud-provider", "max-pods", "register-node"}) {
        INFO(name);
        CHECK_THAT(problem(name, "x"), Catch::Contains("bootstrap.kubelet.extraArgs: " + std::string(name)));
    }
    CHECK_THAT(problem("node-labels", "a=b"), Catch::Contains("machineTemplate.labels"));
    CHECK_THAT(problem("--v", "2"), Catch::Contains("without dashes"));
    CHECK_THAT(problem("v=2 --x", ""), Catch::Contains("not the name"));
    CHECK_THAT(problem("v", "2\nx"), Catch::Contains("more than one line"));
    CHECK(problem("v", "2").empty());

    auto refused = request();
    refused.kubelet.extraArgs = {{"node-ip", "10.0.0.1"}};
    CHECK_THROWS_WITH(bootstrap::plan_join(refused), Catch::Contains("machineTemplate.network"));
}

TEST_CASE("Names that look like numbers or booleans stay strings") {
    auto odd = request();
    odd.node_name = "1e3";
    odd.taints = {{"yes", "010", "NoSchedule", {}}};
    const auto document = json_of(bootstrap::kubeadm_join_configuration(odd));
    CHECK(document.at("nodeRegistration").at("name") == "1e3");
    CHECK(document.at("nodeRegistration").at("taints").at(0).at("key") == "yes");
    CHECK(document.at("nodeRegistration").at("taints").at(0).at("value") == "010");
}

TEST_CASE("A join that cannot be planned says what is missing") {
    auto custom = request(BootstrapFormat::Custom);
    CHECK_THROWS_WITH(bootstrap::plan_join(custom), Catch::Contains("commandSecretRef"));
    auto talos = request(BootstrapFormat::Talos);
    CHECK_THROWS_WITH(bootstrap::plan_join(talos), Catch::Contains("machineConfigSecretRef"));
    auto nameless = request();
    nameless.node_name.clear();
    CHECK_THROWS_WITH(bootstrap::plan_join(nameless), Catch::Contains("Node's name"));
    auto blind = request();
    blind.cluster.ca_pem.clear();
    CHECK_THROWS_WITH(bootstrap::plan_join(blind), Catch::Contains("CA"));
}

TEST_CASE("A machine registers with its template's taints and is not trusted yet") {
    const auto taints = bootstrap::registration_taints(
        {{"gpu", "yes", "NoSchedule", {}}}, {{"gpu", "no", "NoSchedule", {}}, {"cni", "", "NoExecute", {}}});
    REQUIRE(taints.size() == 3);
    CHECK(taints[0].key == "kubenodesmith.io/unregistered");
    CHECK(taints[0].effect == "NoExecute");
    CHECK(taints[1].value == "yes");
    CHECK(taints[2].key == "cni");
}

TEST_CASE("Only labels that a kubelet may set are left to it") {
    for (const auto* key :
         {"app", "example.com/a", "topology.kubenodesmith.io/pool", "kubernetes.io/arch",
          "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "node.kubernetes.io/x",
          "a.node.kubernetes.io/x", "kubelet.kubernetes.io/x", "mykubernetes.io/x"}) {
        INFO(key);
        CHECK(bootstrap::kubelet_may_set(key));
    }
    for (const auto* key :
         {"node-role.kubernetes.io/worker", "kubernetes.io/x", "node-restriction.kubernetes.io/x", "k8s.io/x",
          "a.k8s.io/x", "topology.kubernetes.io/rack"}) {
        INFO(key);
        CHECK_FALSE(bootstrap::kubelet_may_set(key));
    }
}

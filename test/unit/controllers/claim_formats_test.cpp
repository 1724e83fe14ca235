// Tests the data of machines with other formats than kubeadm's, and in whose name they ask for certificates.
#include "test/support/catch.hpp"
#include "test/support/cluster_info.hpp"
#include "test/unit/bootstrap/certificate.hpp"
#include "test/unit/controllers/claim_world.hpp"

using namespace claims;
using namespace std::chrono_literals;
using namespace api::v1alpha1;
using Catch::Contains;
namespace conditions = api::conditions;

namespace {

// Formats has machines that never join, so that their tokens stay.
struct Formats : claims::World {
    explicit Formats(BootstrapFormat format, BootstrapApproval approval = BootstrapApproval::Operator) {
        machines_join = false;
        change([=](Bootstrap& bootstrap) {
            bootstrap.method = BootstrapMethod::CloudInit;
            bootstrap.format = format;
            bootstrap.approval = approval;
            bootstrap.apiServerEndpoint = "10.0.0.1:6443";
            if (format == BootstrapFormat::Talos) bootstrap.machineConfigSecretRef = {"talos", "worker.yaml"};
        });
        put_secret("talos", "worker.yaml", "machine: {type: worker, token: abc.def}\n", "true");
        server.put(test::cluster_info(test::kCACertificate));
        api::ConfigMap root;
        root.metadata.namespace_ = "kube-public";
        root.metadata.name = "kube-root-ca.crt";
        root.data["ca.crt"] = test::kCACertificate;
        server.put(root);
        cloud.on_boot = {};
    }
    // `may_go` is the value of the label that allows pools to hand the Secret to machines; empty: no label.
    void put_secret(const std::string& name, const std::string& key, const std::string& value,
                    const std::string& may_go) {
        api::Secret secret;
        secret.metadata.namespace_ = "default";
        secret.metadata.name = name;
        if (!may_go.empty()) secret.metadata.labels->emplace(api::labels::kBootData, may_go);
        secret.data[key].value = value;
        server.put(secret);
    }
    template <class Change>
    void change(Change change_it) {
        server.edit<NodeSmithPool>({"default", "p"}, [&](NodeSmithPool& pool) {
            if (!pool.spec.bootstrap) pool.spec.bootstrap.emplace();
            change_it(*pool.spec.bootstrap);
        });
    }
    std::string group() {
        const auto token =
            server.get<api::Secret>({"kube-system", "bootstrap-token-" + claim()->status.bootstrapTokenID});
        REQUIRE(token);
        const auto found = token->data.find("auth-extra-groups");
        return found == token->data.end() ? "" : found->second.value;
    }
    bool is_launched() {
        const auto* launched = condition(conditions::kLaunched);
        return launched && launched->status == api::ConditionStatus::True;
    }
};

std::string group_of(BootstrapFormat format, BootstrapApproval approval) {
    Formats world(format, approval);
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.is_launched(); }));
    return world.group();
}

}  // namespace

TEST_CASE("a token is in the group of whoever approves the certificate that is asked for with it") {
    using enum BootstrapApproval;
    CHECK(group_of(BootstrapFormat::Kubeadm, Operator) == "system:bootstrappers:kubenodesmith");
    CHECK(group_of(BootstrapFormat::Talos, Operator) == "system:bootstrappers:kubenodesmith");
    CHECK(group_of(BootstrapFormat::Talos, Cluster) == "system:bootstrappers:nodes");
    CHECK(group_of(BootstrapFormat::Kubeadm, Cluster) == "system:bootstrappers:kubeadm:default-node-token");
    for (const auto format : {BootstrapFormat::K3s, BootstrapFormat::RKE2, BootstrapFormat::K0s})
        for (const auto approval : {Operator, Cluster})
            CHECK(group_of(format, approval) == "system:bootstrappers:kubenodesmith");
}

TEST_CASE("a token lives for six hours at most, also where an older object states more") {
    Formats world(BootstrapFormat::Kubeadm);
    world.change([](Bootstrap& bootstrap) { bootstrap.tokenTTL = 24h; });
    const auto begin = world.clock.wall_now();
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.is_launched(); }));
    const auto token = world.server.get<api::Secret>(
        {"kube-system", "bootstrap-token-" + world.claim()->status.bootstrapTokenID});
    REQUIRE(token);
    const auto expires = api::Time::parse(token->data.at("expiration").value).at;
    CHECK(expires - begin > 6h - 1min);
    CHECK(expires - world.clock.wall_now() <= 6h + 1s);
}

TEST_CASE("a machine that Ignition configures gets JSON for user-data") {
    Formats world(BootstrapFormat::K3s);
    world.change([](Bootstrap& bootstrap) { bootstrap.userData = BootstrapUserData::Ignition; });
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.is_launched(); }));
    const auto& image = world.cloud.machines.begin()->second.boot_image;
    CHECK_THAT(image, Contains(R"({"ignition":{"version":"3.0.0"})") && !Contains("#cloud-config"));
}

TEST_CASE("a way to join that contradicts itself is told of where the claim stands, and nothing is made") {
    Formats world(BootstrapFormat::Talos);
    SECTION("no machine configuration") {
        world.change([](Bootstrap& bootstrap) { bootstrap.machineConfigSecretRef.reset(); });
    }
    SECTION("an argument of the kubelet that is not the pool's") {
        world.change([](Bootstrap& bootstrap) { bootstrap.kubelet.emplace().extraArgs = {{"config", "x"}}; });
    }
    SECTION("the provider's own user-data, which nobody would read") {
        world.server.edit<NodeSmithProvider>({"default", "proxmox"}, [](NodeSmithProvider& provider) {
            if (!provider.spec.proxmox) provider.spec.proxmox.emplace();
            provider.spec.proxmox->cloudInit.emplace().userDataSecretRef = {"own", "user-data"};
        });
    }
    claims::Process process(world);
    world.launch();
    world.run(1min);
    CHECK(world.condition(conditions::kLaunched)->reason == "BootDataMissing");
    CHECK(world.cloud.machines.empty());
}

TEST_CASE("a machine's providerID is known before it is made") {
    Formats world(BootstrapFormat::Custom);
    world.change([](Bootstrap& bootstrap) { bootstrap.commandSecretRef = {"join", "command"}; });
    world.put_secret("join", "command", "join --id {{ .ProviderID }} --pool {{ .Pool }}\n", "true");
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.is_launched(); }));
    const auto id = world.claim()->status.providerID;
    REQUIRE_FALSE(id.empty());
    CHECK_THAT(world.cloud.machines.begin()->second.boot_image, Contains("join --id " + id + " --pool p"));
}

TEST_CASE("a Secret is handed to machines only if whoever may write it has said so") {
    Formats world(BootstrapFormat::Custom);
    world.change([](Bootstrap& bootstrap) { bootstrap.commandSecretRef = {"proxmox", "PROXMOX_SECRET"}; });
    const std::string may_go = GENERATE("", "false");
    world.put_secret("proxmox", "PROXMOX_SECRET", "of-the-hypervisor", may_go);
    claims::Process process(world);
    world.launch();
    world.run(1min);
    const auto* launched = world.condition(conditions::kLaunched);
    REQUIRE(launched);
    CHECK(launched->reason == "BootDataMissing");
    CHECK_THAT(launched->message,
               Contains("kubectl label secret proxmox -n default kubenodesmith.io/boot-data=true") &&
                   !Contains("of-the-hypervisor"));
    CHECK(world.cloud.machines.empty());
    world.server.edit<api::Secret>({"default", "proxmox"}, [](api::Secret& labelled) {
        labelled.metadata.labels = api::StringMap{{std::string(api::labels::kBootData), "true"}};
    });
    CHECK(world.run_until([&] { return world.is_launched(); }));
}

#include "migrate/kubenodesmith_config.hpp"
#include "test/unit/migrate/migrated.hpp"

using test::Migrated;
using namespace test;

namespace {

constexpr std::string_view kConfig = R"(
schemaVersion: v1alpha1
pollingInterval: 45s
providers:
  rack:
    type: proxmox
    credentialsRef: {name: rack-token, namespace: machines}
    options:
      endpoint: https://rack.example.org:8006/api2/json
      nodeWhitelist: [ford, fiat]
      vmIDRange: {lower: 700, upper: 799}
      managedNodeTag: ours
      vmMemOverheadMiB: 512
      networkInterfaces:
        - {name: net0, model: virtio, bridge: vmbr1, vlanTag: 7, macPrefix: "02:11:22"}
      vmOptions:
        - {name: sockets, value: 1}
        - {name: cpu, value: host}
      flavour: salty
nodePools:
  - name: small
    providerRef: rack
    limits: {minNodes: 1, maxNodes: 4, cpuCores: 0, memoryMiB: 20480}
    machineTemplate:
      kubeNodeNamePrefix: worker-auto
      architecture: amd64
      labels:
        node-role.kubernetes.io/worker: ""
        topology.kubenodesmith.io/pool: small
    scaleUp: {batchSize: 2, stabilizationWindow: 3m}
    scaleDown: {maxConcurrent: 2, drainTimeout: 8m}
)";

std::string with(std::string_view from, std::string_view to) {
    std::string text(kConfig);
    text.replace(text.find(from), from.size(), to);
    return text;
}

}  // namespace

TEST_CASE("a KubeNodeSmith YAML configuration becomes a provider, a pool and a control plane") {
    const Migrated result(migrate::migrate_kubenodesmith(kConfig, {}));

    const auto provider = result.only<NodeSmithProvider>();
    CHECK(provider.metadata.name == "rack");
    CHECK(provider.metadata.namespace_ == "machines");
    CHECK(provider.spec.credentialsSecretRef == SecretReference{"rack-token", ""});
    REQUIRE(provider.spec.proxmox);
    const auto& proxmox = *provider.spec.proxmox;
    CHECK(proxmox.endpoint == "https://rack.example.org:8006/api2/json");
    CHECK(proxmox.nodeWhitelist == std::vector<std::string>{"ford", "fiat"});
    CHECK(proxmox.vmIDRange == VMIDRange{700, 799});
    CHECK(proxmox.managedNodeTag == "ours");
    CHECK(proxmox.vmMemOverheadMiB == 512);
    CHECK(proxmox.networkInterfaces ==
          std::vector<NetworkInterface>{{"net0", "virtio", "vmbr1", 7, "02:11:22"}});
    CHECK(proxmox.vmOptions == std::vector<VMOption>{{"sockets", 1}, {"cpu", "host"}});

    const auto pool = result.only<NodeSmithPool>();
    CHECK(pool.metadata.name == "small");
    CHECK(pool.metadata.namespace_ == "machines");
    CHECK(pool.spec.providerRef == "rack");
    CHECK(pool.spec.limits == PoolLimits{1, 4, 0, 20480});
    CHECK(pool.spec.machineTemplate.kubeNodeNamePrefix == "worker-auto");
    CHECK(pool.spec.scaleUp.batchSize == 2);
    CHECK(pool.spec.scaleUp.stabilizationWindow == api::Duration(std::chrono::minutes(3)));
    CHECK(pool.spec.scaleDown.maxConcurrent == 2);
    CHECK(pool.spec.scaleDown.drainTimeout == api::Duration(std::chrono::minutes(8)));

    const auto control_plane = result.only<NodeSmithControlPlane>();
    CHECK(control_plane.metadata.namespace_ == "machines");
    CHECK(control_plane.spec.pools == std::vector<std::string>{"*"});
}

TEST_CASE("what is written reads back as what was meant") {
    const auto migration = migrate::migrate_kubenodesmith(kConfig, {});
    const Migrated result(migration);
    CHECK(result.only<NodeSmithProvider>().spec == migration.draft.providers.at("rack").spec);
    CHECK(result.only<NodeSmithPool>().spec == migration.draft.pools.at("0").spec);
    CHECK(result.only<NodeSmithControlPlane>().spec == migration.draft.control_plane.spec);
}

TEST_CASE("each key of the configuration is in the report with what became of it") {
    const Migrated result(migrate::migrate_kubenodesmith(kConfig, {}));
    CHECK(result.line("providers.rack.options.endpoint").outcome == migrate::Outcome::mapped);
    CHECK(result.line("nodePools.0.scaleDown.drainTimeout").outcome == migrate::Outcome::different);
    CHECK(result.line("pollingInterval").outcome == migrate::Outcome::none);
    CHECK_THAT(result.line("providers.rack.options.flavour").note, Catch::Contains("not a known key"));
    CHECK(result.report.lines.size() == 27);
    CHECK_THAT(migrate::text_of(result.report), Catch::Contains("nodePools.0.limits.minNodes"));
}

TEST_CASE("the label that names the pool is left to the operator") {
    const Migrated result(migrate::migrate_kubenodesmith(kConfig, {}));
    const auto labels = result.only<NodeSmithPool>().spec.machineTemplate.labels;
    CHECK(labels == api::StringMap{{"node-role.kubernetes.io/worker", ""}});

    const auto other = with("topology.kubenodesmith.io/pool: small", "topology.kubenodesmith.io/pool: large");
    CHECK_THROWS_WITH(migrate::migrate_kubenodesmith(other, {}),
                      Catch::Contains("must be the pool's name, small"));
}

TEST_CASE("a configuration that cannot be migrated says which key is wrong") {
    using migrate::migrate_kubenodesmith;
    CHECK_THROWS_WITH(migrate_kubenodesmith(with("v1alpha1", "v9"), {}), Catch::Contains("schemaVersion"));
    CHECK_THROWS_WITH(migrate_kubenodesmith(with("type: proxmox", "type: redfish"), {}),
                      Catch::Contains("providers.rack.type"));
    CHECK_THROWS_WITH(migrate_kubenodesmith(with("providerRef: rack", "providerRef: shed"), {}),
                      Catch::Contains("nodePools.0.providerRef names no provider"));
    CHECK_THROWS_WITH(migrate_kubenodesmith(with("maxNodes: 4", "maxNodes: many"), {}),
                      Catch::Contains("nodePools.0.limits.maxNodes: expected a number"));
    CHECK_THROWS_WITH(migrate_kubenodesmith(with("8m", "soon"), {}), Catch::Contains("drainTimeout"));
    CHECK_THROWS_WITH(migrate_kubenodesmith("just: this", {}), Catch::Contains("providers: there is none"));
    CHECK_THROWS_WITH(migrate_kubenodesmith("a: [", {}), Catch::Contains("line"));
}

TEST_CASE("the namespace is asked for where the configuration names none") {
    const auto text = with("{name: rack-token, namespace: machines}", "{name: rack-token}");
    const Migrated result(migrate::migrate_kubenodesmith(text, {"elsewhere", "proxmox"}));
    CHECK(result.only<NodeSmithProvider>().metadata.namespace_ == "elsewhere");
    CHECK(result.only<NodeSmithPool>().metadata.namespace_ == "elsewhere");
    CHECK(result.only<NodeSmithControlPlane>().metadata.namespace_ == "elsewhere");
}

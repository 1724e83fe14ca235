#include "migrate/kproximate.hpp"
#include "test/unit/migrate/migrated.hpp"

using test::Migrated;
using namespace test;

namespace {

constexpr std::string_view kValues = R"(
kproximate:
  config:
    debug: false
    waitSecondsForJoin: 90
    waitSecondsForProvision: 30
    loadHeadroom: 0.25
    scaleDownStabilizationMinutes: 7
    minNodeAgeMinutes: 12
    kpNodeCores: 3
    kpNodeMemory: 6144
    kpNodeDisableSsh: false
    kpNodeLabels: "example.org/tier=spare,topology.kubernetes.io/zone={{ .TargetHost }}"
    kpNodeNamePrefix: spare
    kpNodeTemplateName: debian-worker
    kpQemuExecJoin: true
    kpLocalTemplateStorage: true
    maxKpNodes: 6
    pmAllowInsecure: true
    pmUrl: https://pve.example.org:8006/api2/json
    pmUserID: scaler@pve!spare
    pollInterval: 10
    nodeSelectionStrategy: balanced
    minAvailableCpuCores: 2
    minAvailableMemoryMB: 4096
    excludedNodes: "fiat, lada"
    rabbitMQHost: queue
  secrets:
    pmToken: 0f0e0d0c-0b0a-4908-8706-050403020100
    kpJoinCommand: |
      join --token very-secret
    sshKey: ssh-ed25519 AAAA someone
workerReplicaCount: 2
rabbitmq:
  auth: {password: rabbit-secret}
image: {pullPolicy: Always}
)";

constexpr std::string_view kEnvironment = R"(# a comment
export pmUrl=https://pve.example.org:8006/api2/json
pmUserID=scaler@pve
pmPassword="word"
kpNodeTemplateName=debian-worker
kpNodeCores=3
kpQemuExecJoin=true
kpJoinCommand=one\ntwo
emptyGraceSecondsAfterCreation=30
)";

Migrated migrated(std::string_view text, bool with_secrets = false) {
    return Migrated(migrate::migrate_kproximate(text, {}), with_secrets);
}

}  // namespace

TEST_CASE("Helm values of kproximate become a provider and a pool that say the same") {
    const auto result = migrated(kValues);
    const auto provider = result.only<NodeSmithProvider>();
    CHECK(provider.metadata.name == "proxmox");
    CHECK(provider.spec.credentialsSecretRef == SecretReference{"proxmox", ""});
    REQUIRE(provider.spec.proxmox);
    const auto& proxmox = *provider.spec.proxmox;
    CHECK(proxmox.endpoint == "https://pve.example.org:8006/api2/json");
    CHECK(proxmox.tls.insecureSkipVerify);
    CHECK(proxmox.placement.strategy == PlacementStrategy::Balanced);
    CHECK(proxmox.placement.minAvailable == Size{2, 4096});
    CHECK(proxmox.placement.excludedNodes == std::vector<std::string>{"fiat", "lada"});
    REQUIRE(proxmox.template_);
    CHECK(proxmox.template_->name == "debian-worker");
    CHECK(proxmox.template_->localStorage);
    REQUIRE(proxmox.cloudInit);
    CHECK(proxmox.cloudInit->sshAuthorizedKeys == std::vector<std::string>{"ssh-ed25519 AAAA someone"});

    const auto pool = result.only<NodeSmithPool>();
    CHECK(pool.metadata.name == "spare");
    CHECK(pool.spec.limits.maxNodes == 6);
    CHECK(pool.spec.machineTemplate.sizes == std::vector<NamedSize>{{"kproximate", 3, 6144}});
    CHECK(pool.spec.machineTemplate.labels ==
          api::StringMap{{"example.org/tier", "spare"}, {"topology.kubernetes.io/zone", "{{ .Host }}"}});
    CHECK(pool.spec.scaleUp.registrationTimeout == api::Duration(std::chrono::seconds(90)));
    CHECK(pool.spec.scaleUp.provisionTimeout == api::Duration(std::chrono::seconds(60)));
    CHECK(pool.spec.scaleUp.maxConcurrent == 2);
    CHECK(pool.spec.scaleDown.headroomPercent == 25);
    CHECK(pool.spec.scaleDown.stabilizationWindow == api::Duration(std::chrono::minutes(7)));
    CHECK(pool.spec.scaleDown.minNodeAge == api::Duration(std::chrono::minutes(12)));
    REQUIRE(pool.spec.bootstrap);
    CHECK(pool.spec.bootstrap->method == BootstrapMethod::GuestAgent);
    CHECK(pool.spec.bootstrap->format == BootstrapFormat::Custom);
    CHECK(pool.spec.bootstrap->commandSecretRef == SecretKeyReference{"kproximate-join", "command"});
}

TEST_CASE("secrets are written only when asked for, and are never in the report") {
    const auto without = migrated(kValues);
    for (const auto* secret : {"0f0e0d0c", "very-secret", "rabbit-secret"}) {
        CHECK_THAT(without.yaml, !Catch::Contains(secret));
        CHECK_THAT(migrate::text_of(without.report), !Catch::Contains(secret));
    }
    CHECK_THAT(migrate::text_of(without.report), Catch::Contains("create secret generic kproximate-join"));
    CHECK_THAT(migrate::text_of(without.report),
               Catch::Contains("label secret kproximate-join kubenodesmith.io/boot-data=true") &&
                   !Catch::Contains("label secret proxmox"));

    const auto with = migrated(kValues, true);
    const auto* credentials = with.document("Secret", "proxmox");
    REQUIRE(credentials);
    CHECK(credentials->at("stringData").at("PROXMOX_TOKEN_ID").as_string() == "scaler@pve!spare");
    CHECK(credentials->at("stringData").at("PROXMOX_SECRET").as_string() ==
          "0f0e0d0c-0b0a-4908-8706-050403020100");
    const auto* join = with.document("Secret", "kproximate-join");
    REQUIRE(join);
    CHECK(join->at("stringData").at("command").as_string() == "join --token very-secret\n");
    CHECK(join->at("metadata").at("labels").at("kubenodesmith.io/boot-data").as_string() == "true");
    CHECK_THAT(migrate::text_of(with.report), !Catch::Contains("very-secret"));
}

TEST_CASE("the first line of kproximate, with its keys right below kproximate, is read too") {
    const auto result = migrated(R"(
kproximate: {kpNodeHeadroom: 0.1, kpNodeTemplateName: old, pmUrl: "https://p:8006/api2/json", sshKey: None,
             emptyGraceSecondsAfterCreation: 45, maxKpNodes: null}
replicaCount: 3
)");
    const auto pool = result.only<NodeSmithPool>();
    CHECK(pool.metadata.name == "kp-node");
    CHECK(pool.spec.limits.maxNodes == 3);
    CHECK(pool.spec.scaleDown.headroomPercent == 20);
    CHECK(pool.spec.scaleDown.emptyGracePeriod == api::Duration(std::chrono::seconds(45)));
    CHECK_FALSE(pool.spec.bootstrap);
    CHECK_FALSE(result.only<NodeSmithProvider>().spec.proxmox->cloudInit);
    CHECK_THAT(result.line("kpNodeHeadroom").note, Catch::Contains("raised to 20 percent"));
}

TEST_CASE("kproximate's environment is read from a file and from its ConfigMap and Secret") {
    const auto from_file = migrated(kEnvironment, true);
    CHECK(from_file.document("Secret", "proxmox")->at("stringData").at("PROXMOX_USERNAME").as_string() ==
          "scaler@pve");
    CHECK(from_file.document("Secret", "kproximate-join")->at("stringData").at("command").as_string() ==
          "one\ntwo");

    const auto from_manifests = migrated(R"(
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: kproximate-config}
  data: {pmUrl: "https://pve.example.org:8006/api2/json", pmUserID: scaler@pve, kpNodeTemplateName: debian-worker,
         kpNodeCores: "3", kpQemuExecJoin: "true", emptyGraceSecondsAfterCreation: "30"}
- apiVersion: v1
  kind: Secret
  metadata: {name: kproximate-secret}
  data: {pmPassword: d29yZA==, kpJoinCommand: b25lCnR3bw==}
- apiVersion: apps/v1
  kind: Deployment
  spec: {template: {spec: {containers: [{name: c, env: [{name: debug, value: "true"}]}]}}}
)",
                                         true);
    CHECK(from_manifests.yaml == from_file.yaml);
    CHECK(from_manifests.line("debug").outcome == migrate::Outcome::none);
}

TEST_CASE("keys of kproximate that would do something else here are adapted and said") {
    auto values = [](const std::string& more) {
        return "kpNodeTemplateName: t\npmUrl: https://p:8006/api2/json\n" + more;
    };
    CHECK(migrated(values("maxKpNodes: 0")).only<NodeSmithControlPlane>().spec.mode == Mode::Paused);
    CHECK(migrated(values("loadHeadroom: 20")).only<NodeSmithPool>().spec.scaleDown.headroomPercent == 90);
    CHECK_FALSE(migrated(values("kpNodeDisableSsh: true\nsshKey: ssh-rsa A"))
                    .only<NodeSmithProvider>()
                    .spec.proxmox->cloudInit->sshAuthorizedKeys.size());
    CHECK_THAT(migrated(values("nodeSelectionStrategy: random")).line("nodeSelectionStrategy").note,
               Catch::Contains("not one of its strategies"));
    CHECK_THROWS_WITH(migrated(values("kpNodeLabels: a=b,c")),
                      Catch::Contains("kpNodeLabels: expected key=value"));
    CHECK_THROWS_WITH(migrated("pmUrl: https://p:8006/api2/json"),
                      Catch::Contains("kpNodeTemplateName is missing"));
    CHECK_THROWS_WITH(migrated("a: b"), Catch::Contains("pmUrl is missing"));
}

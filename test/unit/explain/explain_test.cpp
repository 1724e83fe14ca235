#include "operator/explain/explain.hpp"

#include "test/support/catch.hpp"
#include "test/unit/plan/picture.hpp"

using namespace kubenodesmith;
using namespace test;
using Catch::Contains;

namespace {

const std::string kCluster(kPool);

std::string event(const std::string& kind, const std::string& namespace_, const std::string& name,
                  const std::string& reason) {
    return "{apiVersion: v1, kind: Event, metadata: {name: " + reason + ", namespace: x}, reason: " + reason +
           ", message: because, lastTimestamp: 2026-03-01T11:59:30Z, source: {component: kubenodesmith}, "
           "involvedObject: {kind: " +
           kind + ", namespace: " + namespace_ + ", name: " + name + "}}";
}

}  // namespace

TEST_CASE("a waiting pod is explained with the scheduler's message and what would be launched") {
    const auto view =
        picture({kCluster, std::string(kPendingPod), event("Pod", "shop", "saw", "NoNodeForPod"),
                 event("Pod", "shop", "other", "SomethingElse")});
    const auto text = text_of(explain_pod(*view, {"shop", "saw"}));
    CHECK_THAT(text, Contains("Pod shop/saw waits. The scheduler says: 0/1 nodes are available"));
    CHECK_THAT(text, Contains("a machine of pool tools would be created"));
    CHECK_THAT(text,
               Contains("Price of all machines that would be created now: these machines cost as much as"));
    CHECK_THAT(text, Contains("30 s ago: NoNodeForPod: because"));
    CHECK_THAT(text, !Contains("SomethingElse"));
}

TEST_CASE(
    "a waiting pod's explanation names the claim that was created for it, and what that claim waits for") {
    std::string coming = node_in_service();
    coming = coming.substr(0, coming.find("---"));
    coming.replace(coming.find("phase: Ready"), 12, "phase: Registering");
    coming = coming.substr(0, coming.find("  nodeName")) +
             "  conditions:\n  - {type: Launched, status: \"True\", reason: Launched}\n"
             "  - {type: Registered, status: \"False\", reason: NodeNotFound, message: waiting for the "
             "machine to join}\n";
    const auto view = picture({kCluster, std::string(kPendingPod), coming});
    const auto text = text_of(explain_pod(*view, {"shop", "saw"}));
    CHECK_THAT(text, Contains("Created for it: claim ours/tools-aaaaa (4c/8Gi) is Registering: "
                              "waiting for the machine to join"));
    CHECK_THAT(text, Contains("waits for node tools-aaaaa, which is not ready yet"));
}

TEST_CASE("a node that a volume on its disk holds is explained with the volume and its claim") {
    const auto view = picture({kCluster, node_in_service(), R"(
apiVersion: v1
kind: PersistentVolume
metadata: {name: lp0}
spec:
  claimRef: {namespace: shop, name: d0, uid: pvc-d0}
  nodeAffinity: {required: {nodeSelectorTerms: [
    {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [tools-aaaaa]}]}]}}
status: {phase: Bound}
)"});
    CHECK_THAT(
        text_of(explain_node(*view, "tools-aaaaa")),
        Contains("By what is known now: keep node tools-aaaaa: volume lp0 (PersistentVolumeClaim shop/d0)"));
}

TEST_CASE("a node is explained with its claim, what it carries and why it is kept") {
    const auto view = picture({kCluster, node_in_service(), running_pod()});
    const auto text = text_of(explain_node(*view, "tools-aaaaa"));
    CHECK_THAT(text, Contains("Node tools-aaaaa is ready and has 1 pod that would have to move"));
    CHECK_THAT(text, Contains("It belongs to pool tools: claim ours/tools-aaaaa (4c/8Gi) is Ready"));
    CHECK_THAT(text, Contains("Machine 1001 on host ford"));
    CHECK_THAT(text, Contains("Its pods' requests are worth "));
    CHECK_THAT(text, Contains("keep node tools-aaaaa"));

    const auto foreign = picture({"{apiVersion: v1, kind: Node, metadata: {name: other}}"});
    CHECK_THAT(text_of(explain_node(*foreign, "other")), Contains("belongs to no claim"));
}

TEST_CASE("a claim is explained with its phase, purpose, conditions and failures") {
    std::string failed = node_in_service();
    failed = failed.substr(0, failed.find("---"));
    failed.replace(
        failed.find("status:\n"), 8,
        "status:\n  launchAttempts: 2\n  nextRetryTime: 2026-03-01T12:05:00Z\n"
        "  lastFailure: {reason: ProvisioningFailed, message: no space left, time: 2026-03-01T11:50:00Z}\n");
    const auto view = picture({kCluster, failed, std::string(kPendingPod),
                               event("NodeSmithClaim", "ours", "tools-aaaaa", "Created")});
    const auto text = text_of(explain_claim(*view, {"", "tools-aaaaa"}));
    CHECK_THAT(text, Contains("Pool tools: claim ours/tools-aaaaa"));
    CHECK_THAT(text, Contains("Created for 1 pod; still existing: shop/saw"));
    CHECK_THAT(text, Contains("Attempt 2 failed 10 min ago: no space left"));
    CHECK_THAT(text, Contains("The next attempt is not before 2026-03-01T12:05:00Z"));
    CHECK_THAT(text, Contains("Initialized=True"));
    CHECK_THAT(text, Contains("Created: because"));
}

TEST_CASE("a claim whose machine has not joined is explained with what the machine was given and did") {
    std::string coming = node_in_service();
    coming = coming.substr(0, coming.find("---"));
    coming = coming.substr(0, coming.find("  nodeName")) +
             "  boot: {delivery: an ISO image, apiServer: \"10.0.0.10:6443\", "
             "startedTime: 2026-03-01T11:50:00Z}\n";
    const auto view = picture({kCluster, coming});
    CHECK_THAT(text_of(explain_claim(*view, {"", "tools-aaaaa"})),
               Contains("It should have joined 10.0.0.10:6443 by an ISO image; it has been running since "
                        "2026-03-01T11:50:00Z."));
}

TEST_CASE("a pool is explained with its nodes, what failed and the machine that it keeps") {
    std::string failed = node_in_service();
    failed = failed.substr(0, failed.find("---"));
    failed.replace(failed.find("status:\n"), 8,
                   "status:\n  lastFailure: {reason: RegistrationTimeout, message: no Node appeared, time: "
                   "2026-03-01T11:50:00Z}\n");
    auto pool = kCluster;
    pool.insert(pool.rfind("---"),
                "status:\n  nodes: 2\n  readyNodes: 1\n  keptMachine: {claim: tools-zzzzz, "
                "host: ford, machineID: \"1007\", time: 2026-03-01T11:40:00Z}\n");
    const auto view = picture({pool, failed, event("NodeSmithPool", "ours", "tools", "ScaleUpBlocked")});
    const auto text = text_of(explain_pool(*view, {"", "tools"}));
    CHECK_THAT(text, Contains("Pool ours/tools has 2 nodes, 1 of them ready"));
    CHECK_THAT(
        text,
        Contains("Kept for inspection since 20 min ago: machine 1007 on host ford of claim tools-zzzzz"));
    CHECK_THAT(text, Contains("Claim tools-aaaaa failed 10 min ago: no Node appeared"));
    CHECK_THAT(text, Contains("ScaleUpBlocked: because"));
    CHECK_THROWS_WITH(text_of(explain_pool(*view, {"", "x"})), Contains("no pool x"));
}

TEST_CASE("what is not there is said") {
    const auto view = picture({kCluster});
    CHECK_THROWS_WITH(text_of(explain_pod(*view, {"shop", "saw"})), Contains("no pod shop/saw"));
    CHECK_THROWS_WITH(text_of(explain_node(*view, "x")), Contains("no node x"));
    CHECK_THROWS_WITH(text_of(explain_claim(*view, {"ours", "x"})), Contains("no claim ours/x"));
    CHECK_THROWS_WITH(text_of(explain_claim(*view, {"", "x"})), Contains("no claim x"));
}

TEST_CASE("of an object where nothing is done the explanation says that, and how to change it") {
    const std::vector<std::string> texts{kCluster, node_in_service(), std::string(kPendingPod)};
    const auto view = picture(texts, controllers::ManagedNamespaces({"lab"}));
    for (const auto& text : {text_of(explain_pool(*view, {"ours", "tools"})),
                             text_of(explain_claim(*view, {"ours", "tools-aaaaa"}))}) {
        CHECK_THAT(text, Contains(" ours/tools") &&
                             Contains("the operator ignores objects of namespace ours") &&
                             Contains("(lab)") && Contains("--namespaces"));
    }
    CHECK_THROWS_WITH(text_of(explain_pool(*view, {"", "tools"})),
                      Contains("no pool tools in the managed namespaces (lab)"));
    CHECK_THROWS_WITH(text_of(explain_claim(*view, {"", "tools-aaaaa"})),
                      Contains("no claim tools-aaaaa in the managed namespaces (lab)"));
    CHECK_THAT(text_of(explain_node(*view, "tools-aaaaa")),
               Contains("belongs to no claim in the managed namespaces (lab), so the operator leaves"));
    CHECK_THAT(text_of(explain_pod(*view, {"shop", "saw"})), !Contains("Created for it"));
}

TEST_CASE("providers, hosts and control planes are explained too, by name in any namespace") {
    const auto view = picture({kCluster, R"(
apiVersion: kubenodesmith.parawell.cloud/v1alpha1
kind: NodeSmithHost
metadata: {name: r1, namespace: ours}
spec: {providerRef: racks, maintenance: true, bmc: {address: "https://10.0.0.17"}}
status: {phase: Quarantined, powerState: "Off", failures: 2, lastFailure: it did not boot}
)"});
    const auto provider = text_of(explain_provider(*view, {"", "shed"}));
    CHECK_THAT(provider,
               Contains("Provider ours/shed of type proxmox") && Contains("1 pool uses it") &&
                   Contains("Host ford has 16 cores, 65536 MiB and 0 machines; new machines may take 12 "
                            "cores, 40960 MiB.") &&
                   Contains("Ready=True"));
    CHECK_THAT(text_of(explain_host(*view, {"", "r1"})),
               Contains("Host ours/r1 of provider racks is Quarantined, its power is Off") &&
                   Contains("in maintenance") && Contains("failed 2 times") && Contains("it did not boot"));
    CHECK_THAT(text_of(explain_control_plane(*view, {"ours", "main"})),
               Contains("Control plane ours/main is in mode Active") && Contains("not examined it yet"));
    CHECK_THROWS_WITH(explain_provider(*view, {"", "x"}), Contains("there is no provider x"));
}

TEST_CASE("an overcommitted host is not said to have more CPUs free than it has") {
    auto cluster = std::string(kCluster);
    cluster.replace(cluster.find("freeCPUCores: 12"), 16, "freeCPUCores: 60");
    CHECK_THAT(text_of(explain_provider(*picture({cluster}), {"", "shed"})),
               Contains("Host ford has 16 cores, 65536 MiB and 0 machines; new machines may take 60 cores, "
                        "40960 MiB (its CPUs are overcommitted)."));
}

TEST_CASE("an explanation is a document with the same content") {
    const auto view = picture({kCluster, event("NodeSmithProvider", "ours", "shed", "Found")});
    const auto document = json_of(explain_provider(*view, {"ours", "shed"}));
    CHECK(document.at("kind").as_string() == "Explanations");
    const auto& item = document.at("items").as_array().at(0).as_object();
    CHECK(item.at("kind").as_string() == "NodeSmithProvider");
    CHECK(item.at("namespace").as_string() == "ours");
    CHECK_FALSE(item.at("sentences").as_array().empty());
    CHECK(item.at("conditions").as_array().at(0).at("type").as_string() == "Ready");
    CHECK(item.at("events").as_array().at(0).at("reason").as_string() == "Found");
}

TEST_CASE("a pod is found by its name alone where only one namespace has it") {
    const auto view = picture({kCluster, std::string(kPendingPod)});
    CHECK_THAT(text_of(explain_pod(*view, {"", "saw"})), Contains("Pod shop/saw waits"));
}

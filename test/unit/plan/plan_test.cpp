#include "operator/plan/plan.hpp"
#include "operator/plan/plan_text.hpp"

#include "controllers/claim/facts/template_hash.hpp"
#include "test/support/catch.hpp"
#include "test/unit/plan/picture.hpp"

using namespace kubenodesmith;
using namespace test;

namespace {

Plan plan_of(const std::vector<std::string>& texts) {
    return make_plan(*picture(texts));
}

const std::string kCluster(kPool);

}  // namespace

TEST_CASE("for a pod that waits a machine is planned, sized to the pod") {
    const auto plan = plan_of({kCluster, std::string(kPendingPod)});
    REQUIRE(plan.planned_machines.size() == 1);
    const auto& planned_machine = plan.planned_machines.front();
    CHECK(planned_machine.pool == api::ObjectKey{"ours", "tools"});
    CHECK(planned_machine.cpuCores == 3);
    CHECK(planned_machine.memoryMiB >= 3 * 1024 + 256);
    CHECK(planned_machine.pods == std::vector<api::ObjectKey>{{"shop", "saw"}});
    REQUIRE(plan.pods.size() == 1);
    CHECK(plan.pods.front().outlook == WaitingPod::Outlook::planned_machine);
    CHECK(plan.changes_something());
    CHECK_THAT(table_of(plan), Catch::Contains("create a machine in pool ours/tools: 3 CPUs") &&
                                   Catch::Contains("for shop/saw") &&
                                   Catch::Contains("these machines cost as much as 16 GiB of memory"));
    CHECK(plan.price.machines == scheduling::Prices().of({3, planned_machine.memoryMiB}));
    CHECK((plan.price.least > 0 && plan.price.least <= plan.price.machines));
    CHECK(json_of(plan).at("price").at("machines").as_double() == plan.price.machines);
}

namespace {

const std::string kAgent = R"(
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system, uid: set-1,
           annotations: {deprecated.daemonset.template.generation: "3"}}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 100m, memory: 128Mi}}}]}
)";

// Returns the cluster with what the pool learned from Nodes that are gone.
std::string cluster_that_learned(const std::string& learned) {
    const auto view = picture({kCluster});
    const auto& informers = view->informers();
    const auto hash =
        controllers::claim::template_hash(*informers.pools.store().get({"ours", "tools"}),
                                          informers.providers.store().get({"ours", "shed"}).get());
    auto cluster = kCluster;
    const std::string last_line = "machineTemplate: {labels: {example.org/kind: tool}}";
    cluster.insert(cluster.find(last_line) + last_line.size(),
                   "\nstatus:\n  " + learned + ", templateHash: " + hash + "}]");
    return cluster;
}

}  // namespace

TEST_CASE("a plan for an empty pool counts what DaemonSets took of its last nodes") {
    const auto learned = [](const std::string& generation) {
        return cluster_that_learned(
            "learnedDaemonSets: [{namespace: kube-system, name: agent, uid: set-1, cpuMillicores: 100, "
            "memoryMiB: 2048, templateGeneration: \"" +
            generation + "\"");
    };
    const auto memory = [](const std::string& cluster) {
        const auto plan = plan_of({cluster, kAgent, std::string(kPendingPod)});
        REQUIRE(plan.planned_machines.size() == 1);
        return plan.planned_machines.front().memoryMiB;
    };
    const auto unknown = memory(kCluster);
    // Sizes are in steps of 512 MiB.
    CHECK(memory(learned("3")) >= unknown + 1536);
    CHECK(memory(learned("2")) == unknown);
}

TEST_CASE("a plan for an empty pool counts how many volumes its last nodes could attach") {
    const std::string storage = R"(
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: late}
provisioner: csi.test
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 100m, memory: 128Mi}}}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: late, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
)";
    CHECK(plan_of({kCluster, storage}).planned_machines.size() == 1);
    const auto learned = cluster_that_learned("learnedVolumeLimits: [{driver: csi.test, count: 2");
    CHECK(plan_of({learned, storage}).planned_machines.size() == 2);
}

TEST_CASE("of a plan only what concerns one namespace is kept") {
    auto plan = plan_of({kCluster, std::string(kPendingPod)});
    auto of_pods = plan;
    keep_only(of_pods, "shop");
    CHECK(of_pods.pods.size() == 1);
    CHECK(of_pods.planned_machines.size() == 1);
    keep_only(plan, "elsewhere");
    CHECK(plan.pods.empty());
    CHECK_FALSE(plan.changes_something());
}

TEST_CASE("a plan says what the simple way of filling machines would have cost, where that is more") {
    const scheduling::Price cheaper{80, 78, 96};
    CHECK(sentence_of(cheaper) ==
          "these machines cost as much as 80 GiB of memory (a CPU as 4 GiB); no machines for the same pods "
          "cost less than 78 GiB; machines that are filled one after the other would cost 96 GiB");
    const scheduling::Price simple{80, 78, 80};
    CHECK(sentence_of(simple).ends_with("78 GiB"));
    const scheduling::Price stated{1.25, 1.2, 1.5, true};
    CHECK(sentence_of(stated) ==
          "these machines cost 1.25 by the prices of their pools; no machines for the same pods cost less "
          "than 1.2; machines that are filled one after the other would cost 1.5");
}

TEST_CASE("a pod that is not applied yet is planned for like one that waits") {
    const auto plan = plan_of({kCluster, R"({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"},
         "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "of no matter"}}]})"});
    REQUIRE(plan.planned_machines.size() == 1);
    CHECK(plan.planned_machines.front().pods == std::vector<api::ObjectKey>{{"default", "new"}});
}

TEST_CASE("a pod that no machine helps is told why, and nothing changes") {
    std::string pod(kPendingPod);
    pod.replace(pod.find("cpu: \"2\""), 8, "cpu: 500");
    const auto plan = plan_of({kCluster, pod});
    CHECK(plan.planned_machines.empty());
    CHECK_FALSE(plan.changes_something());
    REQUIRE(plan.pods.size() == 1);
    CHECK(plan.pods.front().outlook == WaitingPod::Outlook::nothing);
    CHECK_THAT(table_of(plan),
               Catch::Contains("pod shop/saw waits, and nothing would be created: pool tools"));
}

TEST_CASE("a plan names the hosts in use, except to a pod that none of them could take") {
    const auto host = [](const std::string& name, int cpus) {
        return "apiVersion: kubenodesmith.parawell.cloud/v1alpha1\nkind: NodeSmithHost\n"
               "metadata: {name: " +
               name +
               ", namespace: ours}\n"
               "spec: {providerRef: shed, bmc: {address: \"https://10.0.0.17\"}}\n"
               "status: {phase: InUse, claimRef: {name: other}, capacity: {cpuCores: " +
               std::to_string(cpus) +
               ", memoryMiB: 65536},\n"
               "  conditions: [{type: Ready, status: \"True\", reason: Ready}]}\n";
    };
    std::string racks(kCluster);
    racks.replace(racks.find("type: proxmox"), 13, "type: redfish");
    const auto begin = racks.find("  proxmox: {");
    racks.replace(begin, racks.find('\n', begin) - begin, "  redfish: {}");
    const auto plan_for = [&](const std::string& cpus) {
        std::string pod(kPendingPod);
        pod.replace(pod.find("cpu: \"2\""), 8, "cpu: \"" + cpus + "\"");
        return table_of(plan_of({racks, host("r1", 8), host("r2", 16), pod}));
    };
    CHECK_THAT(plan_for("40"), Catch::Contains("needs 40 CPUs, largest machine offers 15.9") &&
                                   Catch::Contains("add a larger host"));
    CHECK_THAT(plan_for("12"), Catch::Contains("no host can take a machine: r1, r2 are in use or offline"));
}

TEST_CASE("a pod is told why the provider creates nothing, in the provider's own words") {
    std::string broken(kCluster);
    broken.replace(broken.find("status: \"True\", reason: Ready"), 29,
                   "status: \"False\", reason: SecretKeyMissing, message: PROXMOX_SECRET is missing");
    CHECK_THAT(
        table_of(plan_of({broken, std::string(kPendingPod)})),
        Catch::Contains("pod shop/saw waits, and nothing would be created: pool tools: its provider shed "
                        "is not Ready: PROXMOX_SECRET is missing"));
}

TEST_CASE("a pool whose claims are refused creates nothing in a plan, in the words of the refusal") {
    std::string refused(kCluster);
    const std::string at = "metadata: {name: tools";
    const auto pool = refused.find(at);
    REQUIRE(pool != std::string::npos);
    const auto spec = refused.find("spec:", pool);
    REQUIRE(spec != std::string::npos);
    refused.insert(spec,
                   "status: {conditions: [{type: Available, status: \"False\", reason: ClaimsRefused, "
                   "message: \"the API server refuses its claims: exceeded quota\"}]}\n");
    const auto plan = plan_of({refused, std::string(kPendingPod)});
    CHECK(plan.planned_machines.empty());
    CHECK_THAT(table_of(plan),
               Catch::Contains("pod shop/saw waits, and nothing would be created: pool tools: "
                               "the API server refuses its claims: exceeded quota"));
    CHECK_THAT(table_of(plan),
               Catch::Contains("pool ours/tools creates nothing now: the API server refuses"));
}

TEST_CASE("a claim that only fails is no node that is coming") {
    const auto claim = [](const std::string& rest) {
        auto text = node_in_service();
        text = text.substr(0, text.find("status:\n"));
        return text + "status:\n  providerRef: shed\n  launchAttempts: 2\n" + rest;
    };
    const auto refused = claim(
        "  conditions: [{type: Launched, status: \"False\", reason: RequestRefused, message: no right on "
        "secrets}]\n");
    const auto plan = plan_of({kCluster, std::string(kPendingPod), refused});
    REQUIRE(plan.pods.size() == 1);
    CHECK(plan.pods.front().outlook == WaitingPod::Outlook::held_node);
    CHECK_THAT(table_of(plan),
               Catch::Contains("pod shop/saw waits for node tools-aaaaa, whose machine could not "
                               "be created so far: no right on secrets"));
    const auto again = claim(
        "  lastFailure: {reason: CreateFailed, message: storage full}\n"
        "  conditions: [{type: Launched, status: \"False\", reason: Waiting, message: attempt 2}]\n");
    CHECK_THAT(table_of(plan_of({kCluster, std::string(kPendingPod), again})),
               Catch::Contains("could not be created so far: storage full"));
    const auto first = claim(
        "  conditions: [{type: Launched, status: \"False\", reason: Launching, message: is about to be "
        "created}]\n");
    CHECK_THAT(table_of(plan_of({kCluster, std::string(kPendingPod), first})),
               Catch::Contains("which is not ready yet"));
}

TEST_CASE("a pod whose new node has an undeclared taint waits for it, and the plan names the taint") {
    auto node = node_in_service();
    const auto put = [&node](const std::string& before, const std::string& text) {
        node.insert(node.find(before), text);
    };
    put("reason: Initialized}", "lastTransitionTime: \"2026-03-01T11:59:30Z\", ");
    put("status:\n  nodeInfo", "spec: {taints: [{key: net.example/agent, effect: NoSchedule}]}\n");
    const auto plan = plan_of({kCluster, std::string(kPendingPod), node});
    CHECK(plan.planned_machines.empty());
    REQUIRE(plan.pods.size() == 1);
    CHECK(plan.pods.front().outlook == WaitingPod::Outlook::coming_node);
    CHECK_THAT(table_of(plan), Catch::Contains("net.example/agent:NoSchedule") &&
                                   Catch::Contains("machineTemplate.startupTaints"));
}

TEST_CASE("a pod that wants a zone that the pool's label names in vain is told what overrides it") {
    std::string labelled(kCluster);
    labelled.replace(labelled.find("example.org/kind: tool}"), 23, "topology.kubernetes.io/zone: a}");
    std::string pod(kPendingPod);
    pod.replace(pod.find("spec:\n"), 6, "spec:\n  nodeSelector: {topology.kubernetes.io/zone: a}\n");
    CHECK_THAT(table_of(plan_of({labelled, pod})),
               Catch::Contains("its nodes have no label topology.kubernetes.io/zone=a (label "
                               "topology.kubernetes.io/zone=a of machineTemplate.labels has no effect"));
}

TEST_CASE("a pool that may not launch is named with the reason") {
    std::string paused(kCluster);
    paused.replace(paused.find("pools: [\"*\"]"), 12, "pools: [\"*\"], mode: Paused");
    const auto plan = plan_of({paused, std::string(kPendingPod)});
    CHECK(plan.planned_machines.empty());
    REQUIRE(plan.closed_pools.size() == 1);
    CHECK_THAT(plan.closed_pools.front().message, Catch::Contains("control plane main is paused"));
}

TEST_CASE("an empty node would go, one with pods that fit nowhere else would stay") {
    const auto empty = plan_of({kCluster, node_in_service()});
    REQUIRE(empty.nodes.size() == 1);
    CHECK(empty.nodes.front().empty);
    CHECK(empty.nodes.front().possible);
    CHECK(empty.changes_something());
    CHECK_THAT(table_of(empty), Catch::Contains("remove node tools-aaaaa"));

    const auto used = plan_of({kCluster, node_in_service(), running_pod()});
    REQUIRE(used.nodes.size() == 1);
    CHECK_FALSE(used.nodes.front().empty);
    CHECK_FALSE(used.nodes.front().possible);
    CHECK_FALSE(used.changes_something());
    CHECK_THAT(table_of(used),
               Catch::Contains("keep node tools-aaaaa: its pods fit nowhere else without a new machine"));
}

TEST_CASE("a young empty node stays, and the plan says until when") {
    auto young = node_in_service();
    young.insert(young.find("  uid: node-1"), "  creationTimestamp: \"2026-03-01T11:55:00Z\"\n");
    const auto plan = plan_of({kCluster, young});
    REQUIRE(plan.nodes.size() == 1);
    CHECK_FALSE(plan.changes_something());
    CHECK_THAT(table_of(plan), Catch::Contains("keep node tools-aaaaa: the node is younger than 10m0s "
                                               "(scaleDown.minNodeAge), until 2026-03-01T12:05:00Z"));
}

TEST_CASE("minNodes and pods that must not be disrupted keep a node") {
    std::string wanted(kCluster);
    wanted.replace(wanted.find("minNodes: 0"), 11, "minNodes: 1");
    const auto minimum = plan_of({wanted, node_in_service()});
    REQUIRE(minimum.nodes.size() == 1);
    CHECK_FALSE(minimum.nodes.front().possible);

    const auto shielded =
        plan_of({kCluster, node_in_service(), running_pod("kubenodesmith.io/do-not-disrupt: \"true\"")});
    REQUIRE(shielded.nodes.size() == 1);
    CHECK_THAT(table_of(shielded), Catch::Contains("pod shop/lathe is annotated not to be disrupted ("));
}

// The operator keeps these nodes for ever, so a plan must not promise their removal.
TEST_CASE("a plan keeps the nodes that the operator's own rules keep") {
    std::string cluster(kCluster);
    auto node = node_in_service();
    std::string reason;
    const auto put = [](std::string& text, const std::string& before, const std::string& added) {
        text.insert(text.find(before), added);
    };
    SECTION("an annotation on the Node") {
        put(node, "uid: node-1", "annotations: {karpenter.sh/do-not-disrupt: \"true\"}\n  ");
        reason = "the node has the annotation karpenter.sh/do-not-disrupt=true";
    }
    SECTION("a cordon") {
        put(node, "status:\n  nodeInfo", "spec: {unschedulable: true}\n");
        reason = "the node was cordoned by a user";
    }
    SECTION("a young Node") {
        put(node, "uid: node-1", "creationTimestamp: \"2026-03-01T11:59:50Z\"\n  ");
        reason = "(scaleDown.minNodeAge)";
    }
    SECTION("a paused control plane") {
        put(cluster, "pools: [\"*\"]", "mode: Paused, ");
        reason = "control plane main is paused";
    }
    SECTION("a PodDisruptionBudget") {
        node += "---\n" + running_pod() + R"(---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: all, namespace: shop, uid: b-1}
spec: {selector: {}}
status: {disruptionsAllowed: 0}
)";
        reason = "PodDisruptionBudget";
    }
    SECTION("the pool's policy") {
        put(cluster, "providerRef: shed", "scaleDown: {policy: WhenEmpty}\n  ");
        node += "---\n" + running_pod();
        reason = "scaleDown.policy of the pool is WhenEmpty";
    }
    const auto plan = plan_of({cluster, node});
    REQUIRE(plan.nodes.size() == 1);
    CHECK_FALSE(plan.nodes.front().possible);
    CHECK_FALSE(plan.changes_something());
    CHECK_THAT(table_of(plan), Catch::Contains("keep node tools-aaaaa: ") && Catch::Contains(reason));
}

TEST_CASE("where a control plane only observes, a plan says what the mode Active would remove") {
    std::string cluster(kCluster);
    cluster.insert(cluster.find("pools: [\"*\"]"), "mode: Observe, ");
    CHECK_THAT(table_of(plan_of({cluster, node_in_service()})),
               Catch::Contains("remove node tools-aaaaa: empty, and nothing needs it, if the mode of control "
                               "plane main were Active"));
}

TEST_CASE("a plan says which emptyDir keeps a node, and what a person can do about it") {
    auto pod = running_pod();
    pod.insert(pod.find("  containers:"), "  volumes: [{name: cache, emptyDir: {}}]\n");
    CHECK(table_of(plan_of({kCluster, node_in_service(), pod})).find("emptyDir") == std::string::npos);

    auto keeping = std::string(kCluster);
    keeping.insert(keeping.find("  limits:"), "  disruption: {emptyDir: Keep}\n");
    const auto kept = plan_of({keeping, node_in_service(), pod});
    REQUIRE(kept.nodes.size() == 1);
    CHECK_FALSE(kept.nodes.front().possible);
    const auto reason = "pod shop/lathe has data in the emptyDir cache";
    CHECK_THAT(kept.nodes.front().reasons.back(), Catch::Contains(reason));
    CHECK_THAT(kept.nodes.front().reasons.back(),
               Catch::Contains("set disruption.emptyDir of the pool to Evict"));

    pod.replace(pod.find("emptyDir: {}"), 12, "emptyDir: {sizeLimit: 64Mi}");
    CHECK(table_of(plan_of({keeping, node_in_service(), pod})).find("emptyDir") == std::string::npos);
}

TEST_CASE("a node that could go stays while the pool's budget is closed, and the plan names it") {
    std::string closed(kCluster);
    closed.replace(closed.find("  limits:"), 0,
                   "  disruption: {budgets: [{nodes: \"0\", schedule: \"0 9 * * *\", duration: 8h}]}\n");
    const auto plan = plan_of({closed, node_in_service()});
    REQUIRE(plan.nodes.size() == 1);
    CHECK(plan.nodes.front().empty);
    CHECK_FALSE(plan.changes_something());
    CHECK_THAT(table_of(plan),
               Catch::Contains("keep node tools-aaaaa: disruption.budgets allows 0 nodes during"));

    std::string later(closed);
    later.replace(later.find("0 9 * * *"), 9, "0 13 * * *");
    CHECK(plan_of({later, node_in_service()}).changes_something());
}

TEST_CASE("the plan is JSON for programs") {
    const auto json = json_of(plan_of({kCluster, std::string(kPendingPod)}));
    CHECK(json.at("changes").as_bool());
    CHECK(json.at("launches").as_array().front().at("pool").as_string() == "ours/tools");
    CHECK(json.at("pods").as_array().front().at("outlook").as_string() == "Purchase");
    CHECK(json.at("nodes").as_array().empty());
}

TEST_CASE("objects of namespaces that are not managed launch nothing, and the plan says whose count") {
    std::vector<std::string> texts{kCluster, node_in_service()};
    CHECK(plan_of(texts).nodes.size() == 1);
    texts.emplace_back(kPendingPod);
    const auto elsewhere = make_plan(*picture(texts, controllers::ManagedNamespaces({"lab", "team-a"})));
    CHECK(elsewhere.planned_machines.empty());
    CHECK(elsewhere.nodes.empty());
    CHECK_THAT(table_of(elsewhere), Catch::Contains("count only in these namespaces: lab, team-a"));
    CHECK(json_of(elsewhere).at("namespaces").as_string() == "lab, team-a");

    const std::vector<std::string> waiting{kCluster, std::string(kPendingPod)};
    CHECK(make_plan(*picture(waiting, controllers::ManagedNamespaces({"ours"}))).planned_machines.size() ==
          1);
    const auto everywhere = plan_of(waiting);
    CHECK(everywhere.planned_machines.size() == 1);
    CHECK_THAT(table_of(everywhere), !Catch::Contains("these namespaces"));
}

TEST_CASE("a file that cannot be read as objects says which") {
    CHECK_THROWS_WITH(picture({"just text"}), Catch::Contains("expected Kubernetes objects"));
    CHECK_THROWS_WITH(picture({"a: ["}), Catch::Contains("line"));
    CHECK_THROWS_WITH(picture({"{apiVersion: v1, kind: Pod, metadata: {name: odd}, spec: {containers: 7}}"}),
                      Catch::Contains("Pod odd"));
}

TEST_CASE("machines launched within the hour and pauses stop a launch in the plan as well") {
    std::string exhausted(kCluster);
    exhausted.replace(exhausted.find("uid: pool-1"), 11,
                      R"(uid: pool-1, annotations: {kubenodesmith.io/past-launches:
      '[{"claim":"a","time":"2026-03-01T11:30:00Z","pods":["pod-1"]},
        {"claim":"b","time":"2026-03-01T11:35:00Z","pods":["pod-1"]},
        {"claim":"c","time":"2026-03-01T11:40:00Z","pods":["pod-1"]}]'})");
    const auto plan = plan_of({exhausted, std::string(kPendingPod)});
    CHECK(plan.planned_machines.empty());
    CHECK_FALSE(plan.changes_something());
    CHECK_THAT(table_of(plan), Catch::Contains("3 machines were created for it within an hour"));

    std::string later(exhausted);
    later.replace(later.find("11:30"), 5, "10:30");
    CHECK(plan_of({later, std::string(kPendingPod)}).planned_machines.size() == 1);
}

TEST_CASE("the launches of a control plane that only observes are planned as such") {
    std::string observing(kCluster);
    observing.replace(observing.find("pools: [\"*\"]"), 12, "pools: [\"*\"], mode: Observe");
    const auto plan = plan_of({observing, std::string(kPendingPod)});
    REQUIRE(plan.planned_machines.size() == 1);
    CHECK(plan.planned_machines.front().observed_by == "main");
    const auto text = table_of(plan);
    CHECK_THAT(text, Catch::Contains("for shop/saw, if the mode of control plane main were Active"));
    CHECK_THAT(text, Catch::Contains("would be created, if the mode of control plane main were Active"));
    CHECK(json_of(plan).at("launches").as_array().front().at("observedBy").as_string() == "main");
}

// plan completes written pods and workloads as the API server and its controllers would. It reports what they
// would refuse and what it does not know.
#include "operator/plan/plan_text.hpp"
#include "test/support/catch.hpp"
#include "test/unit/plan/picture.hpp"

using namespace kubenodesmith;
using namespace test;
using Catch::Contains;

namespace {

const std::string kCluster(kPool);
const std::string kNext = "---\n";

Plan plan_of(const std::string& written) {
    return make_plan(*picture({kCluster, written}));
}

std::string said_of(const std::string& written) {
    return table_of(plan_of(written));
}

// Returns the cores of the one machine; 0 if there is none.
std::int64_t cores(const Plan& plan) {
    REQUIRE(plan.planned_machines.size() <= 1);
    return plan.planned_machines.empty() ? 0 : plan.planned_machines.front().cpuCores;
}

std::string workload(const std::string& kind, const std::string& spec, const std::string& pod) {
    return "apiVersion: " + std::string(kind == "Job" ? "batch/v1" : "apps/v1") + "\nkind: " + kind +
           "\nmetadata: {name: web, namespace: shop}\nspec:\n  " + spec + "\n  template:\n    spec: {" + pod +
           "}\n";
}

std::string deployment(const std::string& pod) {
    return workload("Deployment", "replicas: 1", pod);
}

const std::string kContainers = R"(containers: [{name: c, resources: {requests: {cpu: "1"}}}])";

std::string runtime_class(const std::string& rest) {
    return "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: sandbox}\nhandler: s\n" + rest +
           "\n---\n";
}

std::string limit_range(const std::string& item) {
    return "apiVersion: v1\nkind: LimitRange\nmetadata: {name: bounds, namespace: shop}\nspec: {limits: [{" +
           item + "}]}\n---\n";
}

std::string storage_class(const std::string& mode, const std::string& rest = "") {
    return "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\n"
           "provisioner: csi.example\nvolumeBindingMode: " +
           mode + "\n" + rest + "\n---\n";
}

const std::string kElsewhere =
    "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [moon]}]}]";

std::string stored_claim(const std::string& name, const std::string& zone) {
    return R"(---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: )" +
           name + R"(, namespace: shop, uid: c-1}
spec: {storageClassName: fast, volumeName: v, accessModes: [ReadWriteOnce]}
status: {phase: Bound}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: v}
spec:
  csi: {driver: csi.example, volumeHandle: v}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [
    {key: topology.kubernetes.io/zone, operator: In, values: [)" +
           zone + R"(]}]}]}}
status: {phase: Bound}
)";
}

const std::string kTemplates =
    "volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: fast, accessModes: "
    "[ReadWriteOnce], resources: {requests: {storage: 10Gi}}}}]";

const std::string kEphemeral =
    ", volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast, "
    "accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}}}}]";

}  // namespace

TEST_CASE("a written pod has the overhead of its RuntimeClass, wherever the class is in the files") {
    const auto pod = deployment("runtimeClassName: sandbox, " + kContainers);
    const auto classes = runtime_class("overhead: {podFixed: {cpu: 1500m}}");
    CHECK(cores(plan_of(deployment(kContainers))) == 2);
    CHECK(cores(plan_of(classes + pod)) == 3);
    CHECK(cores(plan_of(pod + kNext + classes)) == 3);
    const auto alone = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {runtimeClassName: sandbox, " +
                       kContainers + "}\n";
    CHECK(cores(plan_of(classes + alone)) == 3);
}

TEST_CASE("a written pod goes where its RuntimeClass sends it") {
    const auto pod = deployment("runtimeClassName: sandbox, " + kContainers);
    CHECK(cores(plan_of(runtime_class("scheduling: {nodeSelector: {example.org/kind: tool}}") + pod)) == 2);
    const auto elsewhere =
        plan_of(runtime_class("scheduling: {nodeSelector: {example.org/kind: other}}") + pod);
    CHECK(elsewhere.planned_machines.empty());
    CHECK_THAT(table_of(elsewhere), Contains("its nodes have no label example.org/kind=other"));
}

TEST_CASE("pods that admission refuses for their RuntimeClass are not planned for, and it is said") {
    const auto pod = deployment("runtimeClassName: sandbox, " + kContainers);
    const auto plan = plan_of(pod);
    CHECK(plan.planned_machines.empty());
    CHECK(plan.pods.empty());
    CHECK_THAT(table_of(plan), Contains("Deployment shop/web is not counted: the API server would refuse its "
                                        "pods: RuntimeClass sandbox does not exist"));
    const auto torn = deployment("runtimeClassName: sandbox, nodeSelector: {a: b}, " + kContainers);
    CHECK_THAT(said_of(runtime_class("scheduling: {nodeSelector: {a: c}}") + torn),
               Contains("RuntimeClass sandbox asks for nodes with a=c, and the pod's nodeSelector for a=b"));
    const auto own = deployment("runtimeClassName: sandbox, overhead: {cpu: 1m}, " + kContainers);
    CHECK_THAT(said_of(runtime_class("overhead: {podFixed: {cpu: 2m}}") + own),
               Contains("its overhead is not that of RuntimeClass sandbox"));
}

TEST_CASE("a DaemonSet in a file is refused for the same reasons as other workloads") {
    const auto daemons = workload("DaemonSet", "selector: {}", "runtimeClassName: sandbox, " + kContainers);
    CHECK_THAT(said_of(daemons), Contains("DaemonSet shop/web is not counted") &&
                                     Contains("RuntimeClass sandbox does not exist"));
}

TEST_CASE("LimitRanges complete written pods of their namespace") {
    const auto pod = deployment("containers: [{name: c}]");
    CHECK(cores(plan_of(pod)) == 1);
    CHECK(cores(plan_of(limit_range("type: Container, defaultRequest: {cpu: 1500m}") + pod)) == 2);
    CHECK(cores(plan_of(pod + kNext + limit_range("type: Container, default: {cpu: 2500m}"))) == 3);
    CHECK(cores(plan_of(limit_range("type: Container, max: {cpu: 3500m}") + pod)) == 4);
}

TEST_CASE("what a LimitRange refuses is not planned for, and its bound is said") {
    const auto limited =
        deployment(R"(containers: [{name: c, resources: {requests: {cpu: "2"}, limits: {cpu: "4"}}}])");
    const auto refused = [&](const std::string& item) {
        const auto plan = plan_of(limit_range(item) + limited);
        CHECK(plan.planned_machines.empty());
        return table_of(plan);
    };
    CHECK_THAT(refused(R"(type: Container, max: {cpu: "3"})"),
               Contains("LimitRange bounds allows at most 3 of cpu, and container c has a limit of 4"));
    CHECK_THAT(refused(R"(type: Container, min: {cpu: "3"})"),
               Contains("LimitRange bounds demands at least 3 of cpu, and container c requests 2"));
    CHECK_THAT(refused(R"(type: Pod, max: {cpu: "3"})"), Contains("and the pod has a limit of 4"));
    CHECK_THAT(refused(R"(type: Container, maxLimitRequestRatio: {cpu: "1"})"),
               Contains("allows a limit of at most 1 times the request of cpu"));
    CHECK(cores(plan_of(limit_range(R"(type: Container, max: {cpu: "4"})") + limited)) == 3);
    const auto asks = deployment(kContainers);
    CHECK_THAT(said_of(limit_range("type: Container, default: {cpu: 500m}") + asks),
               Contains("container c requests 1 of cpu, more than its limit of 500m"));
}

TEST_CASE("the claims of generic ephemeral volumes are those that a controller would make") {
    const auto pod = deployment(kContainers + kEphemeral);
    CHECK(cores(plan_of(storage_class("WaitForFirstConsumer") + pod)) == 2);
    CHECK(cores(plan_of(pod + kNext + storage_class("Immediate"))) == 2);
    CHECK(plan_of(storage_class("WaitForFirstConsumer", kElsewhere) + pod).planned_machines.empty());
    CHECK(plan_of(storage_class("Immediate", kElsewhere) + pod).planned_machines.empty());
    const auto job = workload("Job", "parallelism: 1", kContainers + kEphemeral);
    CHECK(cores(plan_of(storage_class("WaitForFirstConsumer") + job)) == 2);
}

TEST_CASE("a pod of a StatefulSet has its claims and its ephemeral volumes") {
    const auto set = workload("StatefulSet", "replicas: 1\n  " + kTemplates, kContainers + kEphemeral);
    CHECK(cores(plan_of(storage_class("WaitForFirstConsumer") + set)) == 2);
}

TEST_CASE("a written StatefulSet uses the claims that exist, in any order of the documents") {
    const auto set = storage_class("WaitForFirstConsumer") +
                     workload("StatefulSet", "replicas: 1\n  " + kTemplates, kContainers);
    CHECK(cores(plan_of(set + stored_claim("data-web-0", "ford"))) == 2);
    CHECK(plan_of(set + stored_claim("data-web-0", "moon")).planned_machines.empty());
    CHECK(plan_of(stored_claim("data-web-0", "moon") + kNext + set).planned_machines.empty());
    const auto later =
        storage_class("WaitForFirstConsumer") +
        workload("StatefulSet", "replicas: 1\n  ordinals: {start: 5}\n  " + kTemplates, kContainers);
    CHECK(plan_of(later + stored_claim("data-web-5", "moon")).planned_machines.empty());
    CHECK(cores(plan_of(later + stored_claim("data-web-0", "moon"))) == 2);
}

TEST_CASE("a claim template takes the place of the pod template's volume of its name") {
    const auto set =
        workload("StatefulSet", "replicas: 1\n  " + kTemplates,
                 kContainers + ", volumes: [{name: data, persistentVolumeClaim: {claimName: none}}]");
    CHECK(cores(plan_of(storage_class("WaitForFirstConsumer") + set)) == 2);
}

TEST_CASE("a claim that a LimitRange refuses keeps its StatefulSet from having pods") {
    const auto set = storage_class("WaitForFirstConsumer") +
                     workload("StatefulSet", "replicas: 1\n  " + kTemplates, kContainers);
    const auto plan = plan_of(limit_range("type: PersistentVolumeClaim, max: {storage: 5Gi}") + set);
    CHECK(plan.planned_machines.empty());
    CHECK_THAT(table_of(plan), Contains("allows at most 5Gi of storage, and the volume claim requests 10Gi"));
}

TEST_CASE("numbers without quotes are quantities, as the API server takes them") {
    CHECK(cores(plan_of(
              deployment("containers: [{name: c, resources: {requests: {cpu: 2.5, memory: 1e9}}}]"))) == 3);
}

TEST_CASE("a suspended Job has no pods") {
    CHECK(plan_of(workload("Job", "suspend: true", kContainers)).pods.empty());
    CHECK(plan_of(workload("Job", "suspend: false", kContainers)).pods.size() == 1);
}

TEST_CASE("a CronJob counts as the pods of one run") {
    const auto cron_job = [](const std::string& spec) {
        return "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly, namespace: shop}\nspec:\n  " +
               spec + "\n  jobTemplate: {spec: {parallelism: 2, template: {spec: {" + kContainers + "}}}}\n";
    };
    const auto plan = plan_of(cron_job(R"(schedule: "0 3 * * *")"));
    CHECK(plan.pods.size() == 2);
    CHECK_THAT(table_of(plan), Contains("CronJob shop/nightly counts as the pods of one run"));
    CHECK(plan_of(cron_job("suspend: true")).pods.empty());
}

TEST_CASE("kinds that plan does not know are named") {
    const std::string rollout = "apiVersion: deploy.example/v1\nkind: Rollout\nmetadata: {name: web";
    const auto spec = ", namespace: shop}\nspec: {replicas: 3, template: {spec: {" + kContainers + "}}}\n";
    CHECK_THAT(said_of(rollout + spec),
               Contains("Rollout shop/web is not counted: plan does not know its kind"));
    // The pods of an existing object are in the input.
    CHECK_THAT(said_of(rollout + ", uid: r-1" + spec), !Contains("Rollout"));
    CHECK_THAT(said_of("apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: old" + spec),
               Contains("Deployment shop/old is not counted"));
    CHECK_THAT(
        said_of("apiVersion: db.example/v1\nkind: Cluster\nmetadata: {name: a}\nspec: {instances: 3}\n"),
        Contains("kinds that plan does not know, of which it counts no pods: Cluster (1)"));
    CHECK_THAT(said_of("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: "
                       "networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\n"),
               !Contains("does not know"));
}

TEST_CASE("a pod for which the scheduler makes room is in the plan") {
    auto nominated = std::string(kPendingPod);
    nominated.insert(nominated.find("  phase: Pending"), "  nominatedNodeName: theirs\n");
    std::string node = R"(---
apiVersion: v1
kind: Node
metadata: {name: theirs, uid: n-1}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: there, namespace: shop, uid: p-9@}
spec: {nodeName: theirs, containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
status: {phase: Running}
)";
    const auto with = [&](const std::string& mark) {
        auto text = node;
        return make_plan(*picture({kCluster, nominated, text.replace(text.find('@'), 1, mark)}));
    };
    const auto leaves = with(", deletionTimestamp: \"2026-03-01T12:00:30Z\"");
    REQUIRE(leaves.pods.size() == 1);
    CHECK(leaves.pods[0].outlook == WaitingPod::Outlook::freed_node);
    CHECK(leaves.pods[0].node == "theirs");
    CHECK(leaves.planned_machines.empty());
    // No pod is ending there and this pod does not fit, so no room will become free.
    const auto stays = with("");
    REQUIRE(stays.pods.size() == 1);
    CHECK(stays.pods[0].outlook == WaitingPod::Outlook::planned_machine);
}

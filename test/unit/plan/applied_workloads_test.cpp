// plan counts the pods that controllers would make when written workloads are applied to the cluster.
#include "operator/plan/plan_text.hpp"
#include "test/support/catch.hpp"
#include "test/unit/plan/picture.hpp"

using namespace kubenodesmith;
using namespace test;
using Catch::Contains;

namespace {

Plan plan_of(const std::string& objects) {
    return make_plan(*picture({std::string(kPool), objects}));
}

std::string pod_template(const std::string& pod = "") {
    return "  template: {spec: {" + pod + R"(containers: [{name: c, resources: {requests: {cpu: "1"}}}]}})";
}

std::string workload(const std::string& kind, const std::string& metadata, const std::string& spec = "",
                     const std::string& pod = "") {
    const bool is_batch = kind == "Job";
    return "---\napiVersion: " + std::string(is_batch ? "batch/v1" : "apps/v1") + "\nkind: " + kind +
           "\nmetadata: {namespace: shop, " + metadata + "}\nspec:\n" + spec + pod_template(pod) + "\n";
}

// Returns a pod that runs on a node of others.
std::string running(const std::string& name, const std::string& owner, const std::string& owner_name,
                    const std::string& cpu = "1") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: shop, uid: u-" + name +
           ", resourceVersion: \"7\", ownerReferences: [{kind: " + owner + ", name: " + owner_name +
           ", uid: o-1, controller: true}]}\n"
           "spec: {nodeName: theirs, containers: [{name: c, resources: {requests: {cpu: \"" +
           cpu + "\"}}}]}\nstatus: {phase: Running}\n";
}

const std::string kNode = R"(---
apiVersion: v1
kind: Node
metadata: {name: theirs, uid: n-1}
status: {allocatable: {cpu: "3", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
)";

const std::string kThree = "  replicas: 3\n";

}  // namespace

TEST_CASE("workloads of one name and different kinds have pods of their own") {
    const auto plan =
        plan_of(workload("Deployment", "name: web", "  replicas: 2\n") + workload("Job", "name: web") +
                workload("StatefulSet", "name: web", "  replicas: 2\n"));
    CHECK(plan.pods.size() == 5);
    // A StatefulSet's pods have the numbers that their claims are found by.
    CHECK(plan.pods.front().pod.name == "web-0");
}

TEST_CASE("Jobs that only have a prefix for their names are counted each") {
    const auto job = workload("Job", "generateName: run-");
    const auto plan = plan_of(job + job);
    REQUIRE(plan.pods.size() == 2);
    CHECK(plan.pods.front().pod.name == "run-0");
    const std::string pod =
        "---\napiVersion: v1\nkind: Pod\nmetadata: {generateName: once-}\n"
        "spec: {containers: [{name: c}]}\n";
    CHECK(plan_of(pod + pod).pods.size() == 2);
}

TEST_CASE("of a workload that is written twice the later one counts") {
    const auto plan =
        plan_of(workload("Deployment", "name: web", kThree) + workload("Deployment", "name: web"));
    CHECK(plan.pods.size() == 1);
}

TEST_CASE("a written workload needs only the pods that do not run yet") {
    const auto deployment = workload("Deployment", "name: web", kThree);
    const auto runs = kNode + running("web-5d8-a", "ReplicaSet", "web-5d8");
    CHECK(plan_of(deployment + runs).pods.size() == 2);
    // Pods with other requests are replaced, and those of another workload are not its own.
    CHECK(plan_of(deployment + kNode + running("web-5d8-a", "ReplicaSet", "web-5d8", "2")).pods.size() == 3);
    CHECK(plan_of(deployment + kNode + running("web-ui-5d8-a", "ReplicaSet", "web-ui-5d8")).pods.size() == 3);

    const auto set = workload("StatefulSet", "name: db", kThree);
    const auto plan = plan_of(set + kNode + running("db-0", "StatefulSet", "db"));
    REQUIRE(plan.pods.size() == 2);
    CHECK(plan.pods.front().pod.name == "db-1");
}

TEST_CASE("pods that a changed template replaces make room, as far as the workload's controller lets them") {
    const auto two_run =
        kNode + running("web-5d8-a", "ReplicaSet", "web-5d8") + running("web-5d8-b", "ReplicaSet", "web-5d8");
    const std::string elsewhere = "nodeSelector: {disk: ssd}, ";
    const auto machines = [&](const std::string& spec, const std::string& pod) {
        return plan_of(workload("Deployment", "name: web", "  replicas: 2\n" + spec, pod) + two_run).pods;
    };
    CHECK(machines("", "").empty());
    CHECK(machines("", elsewhere).size() == 2);
    // The node has three CPUs. One of the old pods is kept until the new ones run.
    const std::string tolerant = "tolerations: [{key: dedicated, operator: Exists}], ";
    const auto are_placed = [](const std::vector<WaitingPod>& pods) {
        return std::ranges::count(pods, WaitingPod::Outlook::node, &WaitingPod::outlook);
    };
    CHECK(are_placed(machines("", tolerant)) == 2);
    const std::string both_kept = "  strategy: {rollingUpdate: {maxSurge: 2}}\n";
    CHECK(are_placed(machines(both_kept, tolerant)) == 1);
    const auto three_run = two_run + running("web-5d8-c", "ReplicaSet", "web-5d8");
    const auto recreated = plan_of(
        workload("Deployment", "name: web", kThree + "  strategy: {type: Recreate}\n", tolerant) + three_run);
    CHECK(are_placed(recreated.pods) == 3);

    const auto set_runs = kNode + running("db-0", "StatefulSet", "db");
    const auto set = [&](const std::string& spec, const std::string& pod) {
        return plan_of(workload("StatefulSet", "name: db", spec, pod) + set_runs).pods;
    };
    CHECK(set("", "").empty());
    REQUIRE(set("", elsewhere).size() == 1);
    CHECK(set("", elsewhere).front().pod.name == "db-0");
    auto without_version = set_runs;
    without_version.erase(without_version.find("resourceVersion"),
                          std::string("resourceVersion: \"7\", ").size());
    CHECK(plan_of(workload("StatefulSet", "name: db", "", elsewhere) + without_version).pods.size() == 1);
    CHECK(set("  updateStrategy: {type: OnDelete}\n", elsewhere).empty());
    // A ReplicaSet leaves its pods alone.
    const auto replica_set = workload("ReplicaSet", "name: one", "", elsewhere);
    CHECK(plan_of(replica_set + kNode + running("one-a", "ReplicaSet", "one")).pods.empty());
}

TEST_CASE("pods beyond the number that a written workload states end") {
    const auto two_run =
        kNode + running("web-5d8-a", "ReplicaSet", "web-5d8") + running("web-5d8-b", "ReplicaSet", "web-5d8");
    const std::string three_cores =
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\n"
        "spec: {tolerations: [{operator: Exists}], containers: [{name: c, resources: {requests: {cpu: "
        "\"3\"}}}]}\n";
    const auto outlook = [&](const std::string& objects) {
        const auto plan = plan_of(objects + three_cores);
        REQUIRE(plan.pods.size() == 1);
        return plan.pods.front().outlook;
    };
    using Outlook = WaitingPod::Outlook;
    CHECK(outlook(workload("Deployment", "name: web", "  replicas: 0\n") + two_run) == Outlook::node);
    CHECK(outlook(workload("Deployment", "name: web", "  replicas: 1\n") + two_run) ==
          Outlook::planned_machine);
    // An autoscaler may have set the stored number.
    CHECK(outlook(workload("Deployment", "name: web") + two_run) == Outlook::planned_machine);
    const auto set_runs = kNode + running("db-0", "StatefulSet", "db") + running("db-1", "StatefulSet", "db");
    CHECK(outlook(workload("StatefulSet", "name: db", "  replicas: 0\n") + set_runs) == Outlook::node);
    const auto smaller = plan_of(workload("StatefulSet", "name: db", "  replicas: 1\n") + set_runs);
    CHECK(smaller.pods.empty());
}

TEST_CASE("a StatefulSet replaces the pods from its partition on") {
    const auto runs = kNode + running("db-0", "StatefulSet", "db") + running("db-1", "StatefulSet", "db");
    const auto plan = plan_of(workload("StatefulSet", "name: db",
                                       "  replicas: 2\n  updateStrategy: {rollingUpdate: {partition: 1}}\n",
                                       "nodeSelector: {disk: ssd}, ") +
                              runs);
    REQUIRE(plan.pods.size() == 1);
    CHECK(plan.pods.front().pod.name == "db-1");
}

TEST_CASE("written pods have the labels that their controllers give") {
    const auto apart = [](const std::string& label) {
        return "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
               "kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: " +
               label + ", operator: Exists}]}}]}}, ";
    };
    const auto machines = [&](const std::string& kind, const std::string& spec, const std::string& label) {
        return plan_of(workload(kind, "name: w", spec, apart(label))).planned_machines.size();
    };
    const std::string two = "  parallelism: 2\n  completions: 2\n  completionMode: Indexed\n";
    for (const auto* label :
         {"job-name", "batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid",
          "batch.kubernetes.io/job-completion-index"})
        CHECK(machines("Job", two, label) == 2);
    for (const auto* label : {"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"})
        CHECK(machines("StatefulSet", "  replicas: 2\n", label) == 2);
    CHECK(machines("Deployment", "  replicas: 2\n", "pod-template-hash") == 2);
    CHECK(machines("Deployment", "  replicas: 2\n", "job-name") == 1);
}

TEST_CASE("an object that is written over a stored one keeps its identity and its status") {
    const std::string provider = R"(---
apiVersion: kubenodesmith.parawell.cloud/v1alpha1
kind: NodeSmithProvider
metadata: {name: shed, namespace: ours}
spec:
  type: proxmox
  credentialsSecretRef: {name: token}
  proxmox: {endpoint: "https://shed.example.org:8006/api2/json"}
)";
    const auto job = workload("Job", "name: one");
    CHECK(plan_of(provider + job).planned_machines.size() == 1);
    CHECK(make_plan(*picture({provider + job, std::string(kPool)})).planned_machines.size() == 1);

    const std::string pool = R"(---
apiVersion: kubenodesmith.parawell.cloud/v1alpha1
kind: NodeSmithPool
metadata: {name: tools, namespace: ours}
spec: {providerRef: shed, machineTemplate: {sizes: [{name: s, cpuCores: CORES, memoryMiB: 8192}]}}
)";
    const auto of_cores = [&pool](const std::string& cores) {
        auto text = pool;
        return text.replace(text.find("CORES"), 5, cores);
    };
    // The later one counts.
    const auto twice = plan_of(of_cores("2") + of_cores("4") + job);
    REQUIRE(twice.planned_machines.size() == 1);
    CHECK(twice.planned_machines.front().cpuCores == 4);
}

TEST_CASE("a DaemonSet that is written again has the pods that run") {
    const std::string daemon_set =
        "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: shop}\nspec:\n" +
        std::string(
            "  template: {spec: {tolerations: [{operator: Exists}], containers: [{name: c, resources: "
            "{requests: {cpu: \"1\"}}}]}}\n");
    auto stored = daemon_set;
    stored.insert(stored.find("namespace: shop"), "uid: o-1, ");
    const auto two_cores =
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\n"
        "spec: {tolerations: [{operator: Exists}], containers: [{name: c, resources: {requests: {cpu: "
        "\"2\"}}}]}\n";
    const auto runs = kNode + running("agent-x", "DaemonSet", "agent") + two_cores;
    CHECK(plan_of(stored + daemon_set + runs).planned_machines.empty());
    CHECK(plan_of(daemon_set + runs).planned_machines.empty());
}

TEST_CASE("a written pod or claim that the cluster has already stays as it is") {
    const std::string pod =
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: one, namespace: shop}\n"
        "spec: {containers: [{name: c}]}\n";
    CHECK(plan_of(kNode + running("one", "Job", "j") + pod).pods.empty());

    const std::string claim = R"(---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop, uid: c-1, resourceVersion: "7"}
spec: {volumeName: v, accessModes: [ReadWriteOnce]}
status: {phase: Bound}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: v}
status: {phase: Bound}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {accessModes: [ReadWriteOnce]}
)";
    const auto user =
        workload("Job", "name: user", "", "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}], ");
    CHECK(plan_of(claim + user).planned_machines.size() == 1);
}

TEST_CASE("a paused Deployment and pods with scheduling gates get no machine, and it is said") {
    const auto paused = plan_of(workload("Deployment", "name: web", "  paused: true\n"));
    CHECK(paused.planned_machines.empty());
    CHECK_THAT(table_of(paused), Contains("Deployment shop/web counts as no pods: it is paused"));

    const auto gated = plan_of(
        workload("Deployment", "name: web", kThree, "schedulingGates: [{name: example.org/quota}], "));
    CHECK(gated.pods.empty());
    CHECK_THAT(table_of(gated),
               Contains("Deployment shop/web is not counted: scheduling gate example.org/quota"));
}

TEST_CASE("pods that the API server refuses are not counted: requests beyond limits, an unknown priority") {
    const std::string beyond = R"(---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, resources: {requests: {cpu: "2"}, limits: {cpu: "1"}}}]}
)";
    CHECK_THAT(table_of(plan_of(beyond)),
               Contains("container c requests 2 of cpu, more than its limit of 1"));
    const auto unknown = plan_of(workload("Deployment", "name: web", "", "priorityClassName: gold, "));
    CHECK(unknown.pods.empty());
    CHECK_THAT(table_of(unknown), Contains("PriorityClass gold does not exist"));
    const auto known = workload("Deployment", "name: web", "", "priorityClassName: system-node-critical, ");
    CHECK(plan_of(known).pods.size() == 1);
}

TEST_CASE("common mistakes for which the API server refuses pods are said instead of a machine") {
    const auto said = [](const std::string& container, const std::string& pod = "") {
        const auto plan = plan_of("---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {" + pod +
                                  "containers: [{name: c, " + container + "}]}\n");
        CHECK(plan.planned_machines.empty());
        return table_of(plan);
    };
    CHECK_THAT(said("resources: {requests: {nvidia.com/gpu: 1}}"),
               Contains("requests nvidia.com/gpu without a limit for it"));
    CHECK_THAT(said("resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}"),
               Contains("requests 1 of nvidia.com/gpu, which is not its limit of 2"));
    CHECK_THAT(said("resources: {limits: {nvidia.com/gpu: 500m}}"), Contains("must be a whole number"));
    CHECK_THAT(said("resources: {limits: {hugepages-2Mi: 2Mi}}"), Contains("neither CPU nor memory"));
    CHECK_THAT(said("ports: [{containerPort: 80, hostPort: 81}]", "hostNetwork: true, "),
               Contains("hostPort 81"));
    CHECK_THAT(said("image: i",
                    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, minDomains: 2, "
                    "whenUnsatisfiable: ScheduleAnyway}], "),
               Contains("has minDomains"));
    CHECK_THAT(said("resources: {requests: {cpu: 2}}", "resources: {requests: {cpu: 1}}, "),
               Contains("more than the 1 of the pod as a whole"));
    CHECK_THAT(said("image: i", "resources: {requests: {ephemeral-storage: 1Gi}}, "),
               Contains("spec.resources may not state ephemeral-storage"));
    const auto other =
        plan_of(workload("Deployment", "name: web", "  selector: {matchLabels: {app: web}}\n"));
    CHECK(other.planned_machines.empty());
    CHECK_THAT(table_of(other), Contains("spec.selector does not match the labels of spec.template"));
}

TEST_CASE("kinds that change which pods there are, and CronJobs of old versions, are named") {
    const auto quota =
        "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: shop, uid: q-1}\n";
    const auto scaler =
        "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: "
        "shop}\n";
    const auto job = workload("Job", "name: user");
    CHECK_THAT(table_of(plan_of(quota + job)), Contains("ResourceQuota shop/q is not considered"));
    CHECK_THAT(table_of(plan_of(scaler + job)),
               Contains("HorizontalPodAutoscaler shop/web is not considered"));
    // Nothing is written in their namespace.
    CHECK_THAT(table_of(plan_of(quota)), !Contains("ResourceQuota"));
    CHECK_THAT(
        table_of(plan_of("---\napiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: old}\nspec:\n"
                         "  jobTemplate: {spec: {template: {spec: {containers: [{name: c}]}}}}\n")),
        Contains("CronJob default/old is not counted"));
}

TEST_CASE("items of a typed list have the list's kind") {
    const auto plan = plan_of(R"(
apiVersion: v1
kind: PodList
items:
- metadata: {name: a}
  spec: {containers: [{name: c}]}
)");
    CHECK(plan.pods.size() == 1);
}

TEST_CASE("pods find those of another namespace by its name, which the API server gives it as a label") {
    const std::string beside = R"(affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
      {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}},
       namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: data}}}]}}, )";
    const std::string database = R"(---
apiVersion: v1
kind: Pod
metadata: {name: db, namespace: data, uid: u-db, labels: {app: db}}
spec: {nodeName: theirs, containers: [{name: c}]}
status: {phase: Running}
)";
    auto node = kNode;
    node.replace(node.find("uid: n-1"), 8, "uid: n-1, labels: {kubernetes.io/hostname: theirs}");
    const auto written = workload("Job", "name: user", "", beside);
    const auto outlook = [&](const std::string& rest) {
        return plan_of(node + database + written + rest).pods.at(0);
    };
    CHECK(outlook("").outlook == WaitingPod::Outlook::node);
    CHECK(outlook("---\napiVersion: v1\nkind: Namespace\nmetadata: {name: data}\n").outlook ==
          WaitingPod::Outlook::node);
}

TEST_CASE("the youngest default storage class counts, also by the older name of its mark") {
    const auto storage_class = [](const std::string& name, const std::string& year, const std::string& mark,
                                  const std::string& zone) {
        return "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: " + name +
               ", creationTimestamp: \"" + year + "-01-01T00:00:00Z\", annotations: {" + mark +
               ": \"true\"}}\n" +
               "provisioner: csi.example\nvolumeBindingMode: Immediate\n"
               "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [" +
               zone + "]}]}]\n";
    };
    const std::string mark = "storageclass.kubernetes.io/is-default-class";
    const std::string old_mark = "storageclass.beta.kubernetes.io/is-default-class";
    const std::string claim =
        "---\napiVersion: v1\nkind: PersistentVolumeClaim\n"
        "metadata: {name: data, namespace: shop}\n"
        "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n";
    const auto user =
        workload("Job", "name: user", "", "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}], ");
    const auto machines = [&](const std::string& classes) {
        return plan_of(classes + claim + user).planned_machines.size();
    };
    CHECK(machines(storage_class("a", "2024", mark, "moon") + storage_class("b", "2025", mark, "ford")) == 1);
    CHECK(machines(storage_class("a", "2025", mark, "moon") + storage_class("b", "2024", mark, "ford")) == 0);
    CHECK(machines(storage_class("a", "2025", old_mark, "ford")) == 1);
}

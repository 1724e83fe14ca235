// plan completes objects that people wrote by hand as the API server would.
#include <fstream>
#include <sstream>

#include "operator/plan/plan_text.hpp"
#include "test/support/catch.hpp"
#include "test/unit/plan/picture.hpp"

using namespace kubenodesmith;
using namespace test;

namespace {

const std::string kCluster(kPool);

Plan plan_of(const std::string& written) {
    return make_plan(*picture({kCluster, written}));
}

std::string pod(const std::string& resources) {
    return R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"}, "spec": {"containers": [)" +
           std::string(R"({"name": "c", "resources": )") + resources + "}]}}";
}

std::string workload(const std::string& kind, const std::string& spec, const std::string& metadata = "") {
    return "apiVersion: " + std::string(kind == "Job" ? "batch/v1" : "apps/v1") + "\nkind: " + kind +
           "\nmetadata: {name: web, namespace: shop" + metadata + "}\nspec:\n" + spec + R"(
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: "1", memory: 1Gi}}}]}
)";
}

std::string sample(const std::string& file) {
    std::ifstream stream(std::string(KUBENODESMITH_SOURCE) + "/samples/" + file);
    REQUIRE(stream);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("limits are requests where none are written, resource by resource") {
    const auto limited = plan_of(pod(R"({"limits": {"cpu": "4", "memory": "8Gi"}})"));
    REQUIRE(limited.planned_machines.size() == 1);
    CHECK(limited.planned_machines.front().cpuCores == 5);
    CHECK(limited.planned_machines.front().memoryMiB > 8192);

    const auto both = plan_of(pod(R"({"requests": {"cpu": "1"}, "limits": {"cpu": "4", "memory": "8Gi"}})"));
    REQUIRE(both.planned_machines.size() == 1);
    CHECK(both.planned_machines.front().cpuCores == 2);
    CHECK(both.planned_machines.front().memoryMiB > 8192);

    const auto gpu = plan_of(pod(R"({"limits": {"nvidia.com/gpu": 1}})"));
    CHECK(gpu.planned_machines.empty());
    CHECK_THAT(table_of(gpu), Catch::Contains("its machines offer no nvidia.com/gpu"));
}

TEST_CASE("limits of init containers are requests as well") {
    const auto plan = plan_of(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"}, "spec": {
        "initContainers": [{"name": "i", "resources": {"limits": {"cpu": "6"}}}], "containers": [{"name": "c"}]}})");
    REQUIRE(plan.planned_machines.size() == 1);
    CHECK(plan.planned_machines.front().cpuCores == 7);
}

TEST_CASE("workloads that are written down are planned for as the pods they would have") {
    CHECK(plan_of(workload("Deployment", "  replicas: 3")).pods.size() == 3);
    CHECK(plan_of(workload("Deployment", "  paused: false")).pods.size() == 1);
    CHECK(plan_of(workload("ReplicaSet", "  replicas: 2")).pods.size() == 2);
    CHECK(plan_of(workload("StatefulSet", "  replicas: 2")).pods.size() == 2);
    const auto plan = plan_of(workload("Deployment", "  replicas: 2"));
    CHECK(plan.pods.front().pod == api::ObjectKey{"shop", "web-0"});
    CHECK(plan.planned_machines.size() == 1);
    // The pods of an existing workload are in the input, if there are any.
    CHECK(plan_of(workload("Deployment", "  replicas: 3", ", uid: d-1")).pods.empty());
    CHECK_THROWS_WITH(plan_of(workload("Deployment", "  replicas: 1000000")),
                      Catch::Contains("Deployment web asks for too many pods"));
}

TEST_CASE("what the pods of all workloads cost has a bound, which names the workload") {
    const auto many = workload("Deployment", "  replicas: 100000") + "---\n";
    CHECK_THROWS_WITH(plan_of(many + workload("ReplicaSet", "  replicas: 100000")),
                      Catch::Contains("ReplicaSet web asks for too many pods"));
    const auto large = workload(
        "StatefulSet",
        "  replicas: 100000\n  volumeClaimTemplates: [{metadata: {name: " + std::string(10'000, 'x') + "}}]");
    CHECK_THROWS_WITH(plan_of(large), Catch::Contains("StatefulSet web has a template that is too large"));
}

TEST_CASE("a file that costs more than it says is refused, with its name and the bound") {
    CHECK_THROWS_WITH(plan_of(std::string(1'000'000, '[')),
                      Catch::Contains("file-2: line 1, column 100001: more than 100000 of '[', '{' and ','"));
    CHECK_THROWS_WITH(
        plan_of(std::string(101, '[') + std::string(101, ']')),
        Catch::Contains("file-2: line 1, column 101: ") && Catch::Contains("nested more than 100 deep"));
    const std::string aliases = "a: &a [" + std::string(1'000, 'x') + "]\nb: [";
    std::string many;
    for (int i = 0; i < 10'000; ++i) many += "*a ,";
    CHECK_THROWS_WITH(plan_of(aliases + many + "]"),
                      Catch::Contains("file-2: ") && Catch::Contains("those of aliases counted each time"));
}

TEST_CASE("a Job has no more pods at a time than it has completions") {
    CHECK(plan_of(workload("Job", "  parallelism: 3\n  completions: 2")).pods.size() == 2);
    CHECK(plan_of(workload("Job", "  completions: 6")).pods.size() == 1);
}

TEST_CASE("each pod of a StatefulSet has volume claims of its own") {
    const auto plan = plan_of(workload("StatefulSet", R"(  replicas: 2
  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: slow, accessModes: [ReadWriteOnce]}}])") +
                              R"(---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: slow}
provisioner: csi.example.org
volumeBindingMode: WaitForFirstConsumer
)");
    REQUIRE(plan.planned_machines.size() == 1);
    CHECK(plan.planned_machines.front().pods.size() == 2);
}

TEST_CASE("a pod's priority follows from its class") {
    std::string limited(kCluster);
    limited.replace(limited.find("maxNodes: 3, cpuCores: 0"), 24, "maxNodes: 1, cpuCores: 3");
    const auto pod = [](const std::string& name, const std::string& priority_class) {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
               "}\nspec:\n  priorityClassName: " + priority_class +
               "\n  containers: [{name: c, resources: {requests: {cpu: \"2\"}}}]\n";
    };
    const std::string classes = R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: usual}
value: 10
globalDefault: true
)";
    const auto winner = [&](const std::string& pods) {
        const auto plan = make_plan(*picture({limited, classes + pods}));
        REQUIRE(plan.planned_machines.size() == 1);
        REQUIRE(plan.planned_machines.front().pods.size() == 1);
        return plan.planned_machines.front().pods.front().name;
    };
    CHECK(winner(pod("a", "\"\"") + pod("b", "high")) == "b");
    CHECK(winner(pod("b", "\"\"") + pod("a", "high")) == "a");
    CHECK(winner(pod("a", "high") + pod("b", "system-node-critical")) == "b");
}

TEST_CASE("the sample with a GPU gets a machine of the pool that has them, from files as from a cluster") {
    const auto bare_metal =
        sample("bare-metal/pool.yaml") + "---\n" + sample("bare-metal/control-plane.yaml") + R"(---
apiVersion: kubenodesmith.parawell.cloud/v1alpha1
kind: NodeSmithProvider
metadata: {name: rack-1, namespace: kubenodesmith}
spec: {type: redfish, credentialsSecretRef: {name: bmc}, redfish: {hostSelector: {matchLabels: {rack: "1"}}}}
status: {conditions: [{type: Ready, status: "True", reason: Ready}]}
---
apiVersion: kubenodesmith.parawell.cloud/v1alpha1
kind: NodeSmithHost
metadata: {name: r1u07, namespace: kubenodesmith, labels: {rack: "1"}}
spec: {providerRef: rack-1}
status: {conditions: [{type: Ready, status: "True"}], capacity: {cpuCores: 32, memoryMiB: 131072}}
---
apiVersion: kubenodesmith.parawell.cloud/v1alpha1
kind: NodeSmithHost
metadata: {name: r1u09, namespace: kubenodesmith, labels: {rack: "1"}}
spec: {providerRef: rack-1, taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]}
status:
  conditions: [{type: Ready, status: "True"}]
  capacity: {cpuCores: 64, memoryMiB: 262144, extended: {nvidia.com/gpu: 2}}
)";
    const auto written = make_plan(*picture({bare_metal, sample("workloads/gpu.yaml")}));
    REQUIRE(written.planned_machines.size() == 1);
    CHECK(written.planned_machines.front().pool.name == "metal-gpu");
}

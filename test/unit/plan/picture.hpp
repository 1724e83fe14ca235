// A small cluster as `kubectl get -o yaml` would print it, for tests of plan and explain.
#pragma once
#include <memory>
#include <string>

#include "operator/plan/cluster_snapshot.hpp"

namespace test {

inline constexpr std::string_view kPool = R"(
apiVersion: kubenodesmith.parawell.cloud/v1alpha1
kind: NodeSmithProvider
metadata: {name: shed, namespace: ours, uid: provider-1}
spec:
  type: proxmox
  credentialsSecretRef: {name: token}
  proxmox: {endpoint: "https://shed.example.org:8006/api2/json"}
status:
  conditions: [{type: Ready, status: "True", reason: Ready}]
  hosts: [{name: ford, online: true, cpuCores: 16, memoryMiB: 65536, freeCPUCores: 12, freeMemoryMiB: 40960}]
---
apiVersion: kubenodesmith.parawell.cloud/v1alpha1
kind: NodeSmithPool
metadata: {name: tools, namespace: ours, uid: pool-1}
spec:
  providerRef: shed
  limits: {minNodes: 0, maxNodes: 3, cpuCores: 0, memoryMiB: 0}
  machineTemplate: {labels: {example.org/kind: tool}}
---
apiVersion: kubenodesmith.parawell.cloud/v1alpha1
kind: NodeSmithControlPlane
metadata: {name: main, namespace: ours, uid: manager-1}
spec: {pools: ["*"]}
)";

inline constexpr std::string_view kPendingPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: saw, namespace: shop, uid: pod-1}
spec:
  containers: [{name: c, resources: {requests: {cpu: "2", memory: 3Gi}}}]
status:
  phase: Pending
  conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: 0/1 nodes are available}]
)";

// Returns a claim in service with its Node, on which `pods` run.
inline std::string node_in_service() {
    return R"(
apiVersion: kubenodesmith.parawell.cloud/v1alpha1
kind: NodeSmithClaim
metadata:
  name: tools-aaaaa
  namespace: ours
  uid: claim-1
  annotations: {kubenodesmith.io/launched-for: pod-1}
  ownerReferences: [{apiVersion: kubenodesmith.parawell.cloud/v1alpha1, kind: NodeSmithPool, name: tools,
                     uid: pool-1, controller: true}]
spec: {poolRef: tools, requirements: {cpuCores: 4, memoryMiB: 8192}, idempotencyKey: pool-1/1}
status:
  phase: Ready
  size: 4c/8Gi
  providerRef: shed
  host: ford
  machineID: "1001"
  systemUUID: 00000000-0000-0000-0000-000000000001
  nodeName: tools-aaaaa
  conditions:
  - {type: Launched, status: "True", reason: Launched}
  - {type: Registered, status: "True", reason: Registered}
  - {type: Initialized, status: "True", reason: Initialized}
  - {type: Ready, status: "True", reason: Ready}
---
apiVersion: v1
kind: Node
metadata:
  name: tools-aaaaa
  uid: node-1
  labels: {topology.kubenodesmith.io/pool: tools, kubenodesmith.io/nodeclaim: tools-aaaaa, example.org/kind: tool,
           kubernetes.io/hostname: tools-aaaaa}
status:
  nodeInfo: {systemUUID: 00000000-0000-0000-0000-000000000001}
  capacity: {cpu: "4", memory: 8Gi, pods: "110"}
  allocatable: {cpu: 3900m, memory: 7Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
)";
}

inline std::string running_pod(const std::string& annotation = "") {
    return R"(
apiVersion: v1
kind: Pod
metadata:
  name: lathe
  namespace: shop
  uid: pod-2
  annotations: {)" +
           annotation + R"(}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: r-1, controller: true}]
spec:
  nodeName: tools-aaaaa
  nodeSelector: {example.org/kind: tool}
  containers: [{name: c, resources: {requests: {cpu: "1", memory: 1Gi}}}]
status: {phase: Running}
)";
}

inline std::unique_ptr<kubenodesmith::ClusterSnapshot> picture(const std::vector<std::string>& texts,
                                                               controllers::ManagedNamespaces managed = {}) {
    std::vector<kubenodesmith::WrittenFile> files;
    for (const auto& text : texts) files.push_back({"file-" + std::to_string(files.size() + 1), text});
    return kubenodesmith::ClusterSnapshot::from_files(files, api::Time::parse("2026-03-01T12:00:00Z"),
                                                      std::move(managed));
}

}  // namespace test

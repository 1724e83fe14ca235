#include "bench/realistic_objects.hpp"

#include <array>
#include <string>

namespace bench {

namespace json = boost::json;

namespace {

// Number of pods of each of ten workloads; their sum is kPodsOfTen.
constexpr std::array kWorkloadSizes{1, 1, 2, 3, 5, 8, 15, 30, 60, 125};
constexpr int kPodsOfTen = 250;
constexpr int kNamespaces = 20;

enum class Kind { Deployment, StatefulSet, DaemonSet };

struct Workload {
    int number = 0;
    int member = 0;  // index of the pod in it
    Kind kind = Kind::Deployment;
    std::string name;
    std::string owner;  // owner of the pods: the ReplicaSet of a Deployment
    std::string hash;   // hash of the pod template
};

std::string padded(int number, std::size_t digits) {
    const auto text = std::to_string(number);
    return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

std::string zone_of(int node) {
    return "rack-" + std::to_string(node % 8);
}

std::string uid_of(int kind, int number) {
    return "00000000-0000-4000-8" + padded(kind, 3) + "-" + padded(number, 12);
}

Kind kind_of(int index, int ten) {
    if (index == 3 || index == 5) return Kind::StatefulSet;
    return index == 9 && ten % 4 == 0 ? Kind::DaemonSet : Kind::Deployment;
}

Workload workload_of(int pod) {
    static constexpr std::array kNames{"cart",   "checkout",  "search", "ledger",       "mailer",
                                       "images", "telemetry", "stock",  "recommending", "frontend"};
    const int ten = pod / kPodsOfTen;
    int index = 0;
    int member = pod % kPodsOfTen;
    while (member >= kWorkloadSizes.at(static_cast<std::size_t>(index)))
        member -= kWorkloadSizes.at(static_cast<std::size_t>(index++));
    Workload workload{ten * 10 + index, member, kind_of(index, ten), "", "", ""};
    workload.name = std::string(kNames.at(static_cast<std::size_t>(index))) + "-" + std::to_string(ten);
    workload.hash = "5d8f" + padded(workload.number, 6);
    workload.owner = workload.kind == Kind::Deployment ? workload.name + "-" + workload.hash : workload.name;
    return workload;
}

std::string pod_name(const Workload& workload) {
    const bool is_counted = workload.kind == Kind::StatefulSet;
    return workload.owner + "-" + (is_counted ? std::to_string(workload.member) : padded(workload.member, 5));
}

json::object container(const Workload& workload, const std::string& name) {
    json::array env;
    for (int i = 0; i < 9 + workload.number % 6; ++i)
        env.push_back({{"name", "SETTING_" + std::to_string(i)},
                       {"value", "value-of-" + workload.name + "-" + std::to_string(i)}});
    const json::value probe = {{"httpGet", {{"path", "/healthz"}, {"port", 8080}, {"scheme", "HTTP"}}},
                               {"initialDelaySeconds", 5},
                               {"timeoutSeconds", 1},
                               {"periodSeconds", 10},
                               {"successThreshold", 1},
                               {"failureThreshold", 3}};
    const auto cpu = std::to_string(50 * (1 + workload.number % 9)) + "m";
    const auto memory = std::to_string(64 * (1 + workload.number % 7)) + "Mi";
    return {
        {"name", name},
        {"image", "registry.example.org/team/" + workload.name + "-" + name +
                      "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
        {"ports", {{{"containerPort", 8080}, {"protocol", "TCP"}}}},
        {"env", env},
        {"resources", {{"requests", {{"cpu", cpu}, {"memory", memory}}}, {"limits", {{"memory", "1Gi"}}}}},
        {"volumeMounts",
         {{{"name", "config"}, {"mountPath", "/etc/app"}, {"readOnly", true}},
          {{"name", "kube-api-access-" + padded(workload.member, 5)},
           {"mountPath", "/var/run/secrets/kubernetes.io/serviceaccount"}}}},
        {"livenessProbe", probe},
        {"readinessProbe", probe},
        {"imagePullPolicy", "IfNotPresent"},
        {"terminationMessagePath", "/dev/termination-log"}};
}

// Returns what kube-apiserver records for each manager of fields. It is a third of a usual pod, and we do not
// use it.
json::array managed_fields() {
    json::object fields;
    for (int i = 0; i < 24; ++i)
        fields["f:field" + std::to_string(i)] = {{".", json::object()}, {"f:value", json::object()}};
    return {{{"manager", "kube-controller-manager"},
             {"operation", "Update"},
             {"apiVersion", "v1"},
             {"time", "2026-01-31T12:00:00Z"},
             {"fieldsType", "FieldsV1"},
             {"fieldsV1", {{"f:spec", fields}}}}};
}

// Returns the workload's labels and the topology labels that the API server adds.
json::object labels_of(const Workload& workload, int node) {
    json::object labels{{"app.kubernetes.io/name", workload.name},
                        {"app.kubernetes.io/part-of", "shop"},
                        {"app.kubernetes.io/version", "1." + std::to_string(workload.number % 30)},
                        {"topology.kubernetes.io/region", "home"},
                        {"topology.kubernetes.io/zone", zone_of(node)}};
    if (workload.kind == Kind::Deployment) {
        labels["pod-template-hash"] = workload.hash;
    } else {
        labels["controller-revision-hash"] = workload.name + "-" + workload.hash;
    }
    if (workload.kind == Kind::StatefulSet) {
        labels["apps.kubernetes.io/pod-index"] = std::to_string(workload.member);
        labels["statefulset.kubernetes.io/pod-name"] = pod_name(workload);
    }
    return labels;
}

json::object metadata_of(const Workload& workload, int number, int node) {
    static constexpr std::array kOwners{"ReplicaSet", "StatefulSet", "DaemonSet"};
    return {{"name", pod_name(workload)},
            {"generateName", workload.owner + "-"},
            {"namespace", "team-" + std::to_string(workload.number % kNamespaces)},
            {"uid", uid_of(1, number)},
            {"resourceVersion", std::to_string(5000000 + number)},
            {"generation", 1},
            {"creationTimestamp", "2026-01-31T12:" + padded(number % 60, 2) + ":00Z"},
            {"labels", labels_of(workload, node)},
            {"annotations",
             {{"prometheus.io/scrape", "true"},
              {"checksum/config", padded(workload.number, 64)},
              {"kubectl.kubernetes.io/restartedAt", "2026-01-31T11:00:00Z"}}},
            {"ownerReferences",
             {{{"apiVersion", "apps/v1"},
               {"kind", kOwners.at(static_cast<std::size_t>(workload.kind))},
               {"name", workload.owner},
               {"uid", uid_of(2, workload.number)},
               {"controller", true},
               {"blockOwnerDeletion", true}}}},
            {"managedFields", managed_fields()}};
}

json::array volumes_of(const Workload& workload) {
    json::array volumes{
        {{"name", "config"}, {"configMap", {{"name", workload.name}, {"defaultMode", 420}}}},
        {{"name", "kube-api-access-" + padded(workload.member, 5)},
         {"projected",
          {{"defaultMode", 420}, {"sources", {{{"serviceAccountToken", {{"path", "token"}}}}}}}}}};
    if (workload.number % 3 == 0) volumes.push_back({{"name", "cache"}, {"emptyDir", json::object()}});
    if (workload.kind == Kind::StatefulSet)
        volumes.push_back(
            {{"name", "data"}, {"persistentVolumeClaim", {{"claimName", "data-" + pod_name(workload)}}}});
    return volumes;
}

json::array tolerations_of(const Workload& workload) {
    json::array tolerations;
    for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
        tolerations.push_back(
            {{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
    if (workload.kind != Kind::DaemonSet) return tolerations;
    for (const char* key : {"node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure",
                            "node.kubernetes.io/pid-pressure", "node.kubernetes.io/unschedulable"})
        tolerations.push_back({{"key", key}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
    return tolerations;
}

void add_placement(json::object& spec, const Workload& workload, const std::string& node) {
    const json::object selector{{"matchLabels", {{"app.kubernetes.io/name", workload.name}}}};
    if (workload.kind == Kind::DaemonSet) {  // its controller ties each pod to a node
        const json::value fields = {
            {{"key", "metadata.name"}, {"operator", "In"}, {"values", json::array{node}}}};
        spec["affinity"] = {{"nodeAffinity",
                             {{"requiredDuringSchedulingIgnoredDuringExecution",
                               {{"nodeSelectorTerms",
                                 json::array{json::object{{"matchFields", json::array{fields.at(0)}}}}}}}}}};
    } else if (workload.number % 5 == 2) {
        spec["affinity"] = {
            {"podAntiAffinity",
             {{"preferredDuringSchedulingIgnoredDuringExecution",
               {{{"weight", 100},
                 {"podAffinityTerm",
                  {{"labelSelector", selector}, {"topologyKey", "kubernetes.io/hostname"}}}}}}}}};
    } else if (workload.number % 5 == 3) {
        spec["topologySpreadConstraints"] = {{{"maxSkew", 1},
                                              {"topologyKey", "topology.kubernetes.io/zone"},
                                              {"whenUnsatisfiable", "ScheduleAnyway"},
                                              {"labelSelector", selector}}};
    }
}

json::object spec_of(const Workload& workload, const std::string& node) {
    json::object spec{{"volumes", volumes_of(workload)},
                      {"containers", {container(workload, "app"), container(workload, "proxy")}},
                      {"restartPolicy", "Always"},
                      {"terminationGracePeriodSeconds", 30 + workload.number % 4 * 10},
                      {"dnsPolicy", "ClusterFirst"},
                      {"serviceAccountName", "web"},
                      {"nodeName", node},
                      {"schedulerName", "default-scheduler"},
                      {"tolerations", tolerations_of(workload)},
                      {"priority", 0},
                      {"enableServiceLinks", true},
                      {"preemptionPolicy", "PreemptLowerPriority"}};
    add_placement(spec, workload, node);
    return spec;
}

json::object container_status(const Workload& workload, const std::string& name, int number) {
    return {{"name", name},
            {"image", "registry.example.org/team/" + workload.name + "-" + name},
            {"imageID", "registry.example.org/team/" + workload.name + "@sha256:" + padded(number, 64)},
            {"containerID", "containerd://" + padded(number, 64)},
            {"ready", true},
            {"started", true},
            {"restartCount", 0},
            {"state", {{"running", {{"startedAt", "2026-01-31T13:00:05Z"}}}}}};
}

json::object status_of(const Workload& workload, int number) {
    json::array conditions;
    for (const char* type :
         {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"})
        conditions.push_back({{"type", type},
                              {"status", "True"},
                              {"observedGeneration", 1},
                              {"lastProbeTime", nullptr},
                              {"lastTransitionTime", "2026-01-31T13:00:" + padded(number % 60, 2) + "Z"}});
    const auto ip = "10.244." + std::to_string(number / 250 % 250) + "." + std::to_string(number % 250);
    return {{"observedGeneration", 1},
            {"phase", "Running"},
            {"conditions", conditions},
            {"hostIP", "10.0.4.17"},
            {"hostIPs", {{{"ip", "10.0.4.17"}}}},
            {"podIP", ip},
            {"podIPs", {{{"ip", ip}}}},
            {"startTime", "2026-01-31T13:00:" + padded(number % 60, 2) + "Z"},
            {"containerStatuses",
             {container_status(workload, "app", number), container_status(workload, "proxy", number)}},
            {"qosClass", "Burstable"}};
}

}  // namespace

json::object realistic_pod(int number, int nodes) {
    const auto workload = workload_of(number);
    const int node = number % nodes;
    return {{"metadata", metadata_of(workload, number, node)},
            {"spec", spec_of(workload, "node-" + std::to_string(node))},
            {"status", status_of(workload, number)}};
}

json::object realistic_node(int number) {
    const std::string name = "node-" + std::to_string(number);
    json::array images;
    for (int i = 0; i < 25; ++i)
        images.push_back({{"names", {"registry.example.org/team/image-" + std::to_string(i) + ":1.0"}},
                          {"sizeBytes", 100000000 + i}});
    const json::object amounts = {
        {"cpu", "32"}, {"memory", "128Gi"}, {"pods", "110"}, {"ephemeral-storage", "200Gi"}};
    json::array conditions;
    for (const char* type : {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"})
        conditions.push_back({{"type", type},
                              {"status", std::string(type) == "Ready" ? "True" : "False"},
                              {"reason", "KubeletHas" + std::string(type)},
                              {"message", "kubelet has posted that it has " + std::string(type)},
                              {"lastHeartbeatTime", "2026-01-31T12:00:00Z"},
                              {"lastTransitionTime", "2026-01-31T12:00:00Z"}});
    const auto address = "10.0." + std::to_string(number / 250) + "." + std::to_string(number % 250);
    return {{"metadata",
             {{"name", name},
              {"uid", uid_of(3, number)},
              {"resourceVersion", std::to_string(4000000 + number)},
              {"creationTimestamp", "2026-01-31T11:00:00Z"},
              {"labels",
               {{"kubernetes.io/hostname", name},
                {"kubernetes.io/os", "linux"},
                {"kubernetes.io/arch", "amd64"},
                {"beta.kubernetes.io/os", "linux"},
                {"beta.kubernetes.io/arch", "amd64"},
                {"node-role.kubernetes.io/worker", ""},
                {"topology.kubernetes.io/region", "home"},
                {"topology.kubernetes.io/zone", zone_of(number)}}},
              {"annotations",
               {{"node.alpha.kubernetes.io/ttl", "0"},
                {"volumes.kubernetes.io/controller-managed-attach-detach", "true"},
                {"csi.volume.kubernetes.io/nodeid", "{\"csi.example.org\":\"" + name + "\"}"}}}}},
            {"spec",
             {{"podCIDR", "10.244." + std::to_string(number % 250) + ".0/24"},
              {"providerID", "proxmox://" + name}}},
            {"status",
             {{"capacity", amounts},
              {"allocatable", amounts},
              {"images", images},
              {"conditions", conditions},
              {"addresses",
               {{{"type", "InternalIP"}, {"address", address}}, {{"type", "Hostname"}, {"address", name}}}},
              {"nodeInfo",
               {{"kubeletVersion", "v1.36.3"},
                {"osImage", "Debian GNU/Linux 12"},
                {"kernelVersion", "6.1.0"},
                {"containerRuntimeVersion", "containerd://2.1"},
                {"machineID", padded(number, 32)},
                {"systemUUID", uid_of(4, number)},
                {"bootID", uid_of(5, number)},
                {"operatingSystem", "linux"},
                {"architecture", "amd64"},
                {"kubeProxyVersion", ""}}}}}};
}

}  // namespace bench

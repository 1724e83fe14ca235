#include "bench/realistic_objects.hpp"

#include <string>

namespace bench {

namespace json = boost::json;

namespace {

json::object container(const std::string& name) {
    json::array env;
    for (int i = 0; i < 12; ++i)
        env.push_back(
            {{"name", "SETTING_" + std::to_string(i)}, {"value", "value-of-setting-" + std::to_string(i)}});
    const json::value probe = {{"httpGet", {{"path", "/healthz"}, {"port", 8080}, {"scheme", "HTTP"}}},
                               {"initialDelaySeconds", 5},
                               {"timeoutSeconds", 1},
                               {"periodSeconds", 10},
                               {"successThreshold", 1},
                               {"failureThreshold", 3}};
    return {{"name", name},
            {"image", "registry.example.org/team/" + name +
                          "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef"},
            {"ports", {{{"containerPort", 8080}, {"protocol", "TCP"}}}},
            {"env", env},
            {"resources",
             {{"requests", {{"cpu", "250m"}, {"memory", "512Mi"}}}, {"limits", {{"memory", "1Gi"}}}}},
            {"volumeMounts",
             {{{"name", "config"}, {"mountPath", "/etc/app"}, {"readOnly", true}},
              {{"name", "token"}, {"mountPath", "/var/run/secrets/kubernetes.io/serviceaccount"}}}},
            {"livenessProbe", probe},
            {"readinessProbe", probe},
            {"imagePullPolicy", "IfNotPresent"},
            {"terminationMessagePath", "/dev/termination-log"}};
}

// What kube-apiserver records for each manager of fields: a third of a usual pod, and of no use to us.
json::array managed_fields() {
    json::object fields;
    for (int i = 0; i < 40; ++i)
        fields["f:field" + std::to_string(i)] = {{".", json::object()}, {"f:value", json::object()}};
    return {{{"manager", "kube-controller-manager"},
             {"operation", "Update"},
             {"apiVersion", "v1"},
             {"time", "2026-01-31T12:00:00Z"},
             {"fieldsType", "FieldsV1"},
             {"fieldsV1", {{"f:spec", fields}}}}};
}

}  // namespace

json::object realistic_pod(int number) {
    const std::string name = "web-5d8f7c9b6d-" + std::to_string(100000 + number);
    return {
        {"metadata",
         {{"name", name},
          {"generateName", "web-5d8f7c9b6d-"},
          {"namespace", "team-" + std::to_string(number % 20)},
          {"uid", "00000000-0000-4000-8000-" + std::to_string(100000000000 + number)},
          {"resourceVersion", std::to_string(5000000 + number)},
          {"creationTimestamp", "2026-01-31T12:00:00Z"},
          {"labels",
           {{"app", "web"}, {"pod-template-hash", "5d8f7c9b6d"}, {"app.kubernetes.io/part-of", "shop"}}},
          {"annotations", {{"prometheus.io/scrape", "true"}, {"checksum/config", std::string(64, 'a')}}},
          {"ownerReferences",
           {{{"apiVersion", "apps/v1"},
             {"kind", "ReplicaSet"},
             {"name", "web-5d8f7c9b6d"},
             {"uid", "00000000-0000-4000-8000-000000000001"},
             {"controller", true}}}},
          {"managedFields", managed_fields()}}},
        {"spec",
         {{"volumes",
           {{{"name", "config"}, {"configMap", {{"name", "web"}, {"defaultMode", 420}}}},
            {{"name", "token"}, {"projected", {{"defaultMode", 420}}}}}},
          {"containers", {container("app"), container("proxy")}},
          {"restartPolicy", "Always"},
          {"terminationGracePeriodSeconds", 30},
          {"dnsPolicy", "ClusterFirst"},
          {"serviceAccountName", "web"},
          {"nodeName", "node-" + std::to_string(number % 500)},
          {"schedulerName", "default-scheduler"},
          {"tolerations",
           {{{"key", "node.kubernetes.io/not-ready"},
             {"operator", "Exists"},
             {"effect", "NoExecute"},
             {"tolerationSeconds", 300}}}},
          {"priority", 0},
          {"enableServiceLinks", true},
          {"preemptionPolicy", "PreemptLowerPriority"}}},
        {"status",
         {{"phase", "Running"},
          {"conditions",
           {{{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", "2026-01-31T12:00:10Z"}},
            {{"type", "PodScheduled"}, {"status", "True"}, {"lastTransitionTime", "2026-01-31T12:00:00Z"}}}},
          {"hostIP", "10.0.4.17"},
          {"podIP", "10.244.3.9"},
          {"startTime", "2026-01-31T12:00:00Z"}}}};
}

json::object realistic_node(int number) {
    const std::string name = "node-" + std::to_string(number);
    json::array images;
    for (int i = 0; i < 25; ++i)
        images.push_back({{"names", {"registry.example.org/team/image-" + std::to_string(i) + ":1.0"}},
                          {"sizeBytes", 100000000 + i}});
    const json::object amounts = {
        {"cpu", "32"}, {"memory", "128Gi"}, {"pods", "110"}, {"ephemeral-storage", "200Gi"}};
    return {{"metadata",
             {{"name", name},
              {"labels",
               {{"kubernetes.io/hostname", name},
                {"kubernetes.io/os", "linux"},
                {"kubernetes.io/arch", "amd64"},
                {"topology.kubernetes.io/zone", "rack-" + std::to_string(number % 8)}}}}},
            {"spec", {{"podCIDR", "10.244." + std::to_string(number % 250) + ".0/24"}}},
            {"status",
             {{"capacity", amounts},
              {"allocatable", amounts},
              {"images", images},
              {"conditions",
               {{{"type", "Ready"},
                 {"status", "True"},
                 {"reason", "KubeletReady"},
                 {"lastHeartbeatTime", "2026-01-31T12:00:00Z"},
                 {"lastTransitionTime", "2026-01-31T12:00:00Z"}}}},
              {"nodeInfo",
               {{"kubeletVersion", "v1.36.3"},
                {"osImage", "Debian GNU/Linux 12"},
                {"kernelVersion", "6.1.0"},
                {"containerRuntimeVersion", "containerd://2.1"},
                {"machineID", "0123456789abcdef0123456789abcdef"},
                {"systemUUID", "00000000-0000-4000-8000-" + std::to_string(100000000000 + number)},
                {"bootID", "00000000-0000-4000-8000-000000000001"},
                {"operatingSystem", "linux"},
                {"architecture", "amd64"},
                {"kubeProxyVersion", ""}}}}}};
}

}  // namespace bench

// bench-decode [PODS]: how fast a list of realistic pods becomes structs, with and without a DOM.
// Prints one line per way: pods per second, MB per second, and both relative to parsing alone.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "api/stream.hpp"

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

json::value pod(int number) {
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

std::string make_list(int pods) {
    json::array items;
    for (int i = 0; i < pods; ++i) items.push_back(pod(i));
    return json::serialize(
        json::object{{"kind", "PodList"}, {"metadata", {{"resourceVersion", "1"}}}, {"items", items}});
}

template <class F>
double seconds(F work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A type without members: everything is parsed and skipped.
void parse_only(const std::string& text) {
    const api::Type nothing(api::Shape::Object);
    int target = 0;
    api::decode_text_into(text, &target, nothing);
}

std::vector<api::Pod> decode_stream(const std::string& text) {
    std::vector<api::Pod> pods;
    api::ListDecoder<api::Pod> decoder([&](api::Pod&& each) { pods.push_back(std::move(each)); });
    constexpr std::size_t kChunk = 16384;
    for (std::size_t at = 0; at < text.size(); at += kChunk)
        decoder.write(std::string_view(text).substr(at, kChunk));
    decoder.finish();
    return pods;
}

std::vector<api::Pod> decode_document(const std::string& text) {
    std::vector<api::Pod> pods;
    const json::value document = json::parse(text);
    for (const json::value& item : document.at("items").as_array())
        pods.push_back(api::decode<api::Pod>(item));
    return pods;
}

// Each pod as one line of a watch.
std::vector<std::string> make_watch(int pods) {
    std::vector<std::string> lines;
    lines.reserve(static_cast<std::size_t>(pods));
    for (int i = 0; i < pods; ++i)
        lines.push_back(json::serialize(json::object{{"type", "MODIFIED"}, {"object", pod(i)}}));
    return lines;
}

std::vector<api::Pod> decode_watch(const std::vector<std::string>& lines) {
    std::vector<api::Pod> pods;
    pods.reserve(lines.size());
    for (const std::string& line : lines) pods.push_back(api::decode_watch_event<api::Pod>(line).object);
    return pods;
}

}  // namespace

int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 20000;
    if (count <= 0) {
        std::fprintf(stderr, "usage: bench-decode [PODS]\n");
        return 2;
    }
    const std::string text = make_list(count);
    std::printf("pods=%d bytes_per_pod=%zu\n", count, text.size() / static_cast<std::size_t>(count));
    const std::vector<std::string> lines = make_watch(count);
    std::vector<api::Pod> streamed;
    std::vector<api::Pod> watched;
    std::vector<api::Pod> parsed;
    const double skipping = seconds([&] { parse_only(text); });
    const double streaming = seconds([&] { streamed = decode_stream(text); });
    const double watching = seconds([&] { watched = decode_watch(lines); });
    const double through_document = seconds([&] { parsed = decode_document(text); });
    const auto print = [&](const char* way, double time) {
        std::printf("%-9s seconds=%.3f pods_per_second=%.0f megabytes_per_second=%.0f relative=%.2f\n", way,
                    time, count / time, static_cast<double>(text.size()) / time / 1e6, time / skipping);
    };
    print("parse", skipping);
    print("stream", streaming);
    print("watch", watching);
    print("document", through_document);
    if (streamed != parsed || watched != parsed || streamed.size() != static_cast<std::size_t>(count)) {
        std::fprintf(stderr, "the results differ\n");
        return 1;
    }
    return 0;
}

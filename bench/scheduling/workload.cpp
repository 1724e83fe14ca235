#include "bench/scheduling/workload.hpp"

#include <array>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>

#include "api/names.hpp"

namespace bench {

namespace {

constexpr std::size_t kSeed = 42;
const std::string kZone(api::labels::kZone);
const std::string kHostname(api::labels::kHostname);

class PodMaker {
public:
    std::shared_ptr<api::Pod> plain() {
        auto pod = sized();
        pod->metadata.labels["my-label"] = letter();
        return pod;
    }
    std::shared_ptr<api::Pod> spread(const std::string& key) {
        auto pod = plain();
        auto& constraint = pod->spec.topologySpreadConstraints->emplace_back();
        constraint.topologyKey = key;
        constraint.labelSelector.emplace().matchLabels["my-label"] = letter();
        return pod;
    }
    std::shared_ptr<api::Pod> together() {
        auto pod = sized();
        const auto value = letter();
        pod->metadata.labels["my-affinity"] = value;
        auto& affinity = pod->spec.affinity.emplace().podAffinity.emplace();
        affinity.requiredDuringSchedulingIgnoredDuringExecution.push_back(term("my-affinity", value, kZone));
        return pod;
    }
    std::shared_ptr<api::Pod> apart() {
        auto pod = sized();
        pod->metadata.labels["app"] = "nginx";
        auto& affinity = pod->spec.affinity.emplace().podAntiAffinity.emplace();
        affinity.requiredDuringSchedulingIgnoredDuringExecution.push_back(term("app", "nginx", kHostname));
        return pod;
    }
    std::shared_ptr<api::Pod> choosy() {
        auto pod = named();
        request(*pod, 100, 4096);
        pod->metadata.labels["app"] = "nginx";
        auto& affinity = pod->spec.affinity.emplace();
        auto& zone = affinity.nodeAffinity.emplace().preferredDuringSchedulingIgnoredDuringExecution;
        api::PreferredSchedulingTerm preferred;
        preferred.weight = 1;
        preferred.preference.matchExpressions.push_back({kZone, api::SelectorOperator::In, {"test-zone-1"}});
        zone.push_back(preferred);
        auto& apart = affinity.podAntiAffinity.emplace().preferredDuringSchedulingIgnoredDuringExecution;
        apart.push_back({10, term("app", "nginx", kZone)});
        apart.push_back({1, term("app", "nginx", kHostname)});
        return pod;
    }

private:
    std::shared_ptr<api::Pod> named() {
        auto pod = std::make_shared<api::Pod>();
        pod->metadata.name = "pod-" + std::to_string(made_++);
        pod->metadata.namespace_ = "default";
        pod->spec.containers->emplace_back().name = "pause";
        return pod;
    }
    std::shared_ptr<api::Pod> sized() {
        constexpr std::array<std::int64_t, 5> kMillicores = {100, 250, 500, 1000, 1500};
        constexpr std::array<std::int64_t, 6> kMebibytes = {100, 256, 512, 1024, 2048, 4096};
        auto pod = named();
        request(*pod, kMillicores[draw(kMillicores.size())], kMebibytes[draw(kMebibytes.size())]);
        return pod;
    }
    static void request(api::Pod& pod, std::int64_t millicores, std::int64_t mebibytes) {
        auto& requests = pod.spec.containers->front().resources.requests;
        requests["cpu"] = api::Quantity::of_milli(millicores);
        requests["memory"] = api::Quantity::of_mebibytes(mebibytes);
    }
    static api::PodAffinityTerm term(const std::string& label, const std::string& value,
                                     const std::string& key) {
        api::PodAffinityTerm term;
        term.labelSelector.emplace().matchLabels[label] = value;
        term.topologyKey = key;
        return term;
    }
    std::string letter() { return {static_cast<char>('a' + draw(7))}; }
    std::size_t draw(std::size_t below) { return random_() % below; }

    std::mt19937_64 random_{kSeed};
    std::size_t made_ = 0;
};

using Make = std::function<std::shared_ptr<api::Pod>(PodMaker&)>;

const std::map<std::string, Make>& makers() {
    static const std::map<std::string, Make> makers = {
        {"generic", [](PodMaker& maker) { return maker.plain(); }},
        {"zone-spread", [](PodMaker& maker) { return maker.spread(kZone); }},
        {"hostname-spread", [](PodMaker& maker) { return maker.spread(kHostname); }},
        {"zone-affinity", [](PodMaker& maker) { return maker.together(); }},
        {"hostname-anti-affinity", [](PodMaker& maker) { return maker.apart(); }},
        {"preference", [](PodMaker& maker) { return maker.choosy(); }},
    };
    return makers;
}

Pods diverse(std::size_t count) {
    PodMaker maker;
    Pods pods;
    pods.reserve(count);
    for (const auto* part :
         {"generic", "zone-spread", "hostname-spread", "zone-affinity", "hostname-anti-affinity"})
        for (std::size_t i = 0; i < count / 5; ++i) pods.push_back(makers().at(part)(maker));
    while (pods.size() < count) pods.push_back(maker.plain());
    return pods;
}

scheduling::NodeInfo busy_node(std::size_t number, const std::string& zone) {
    auto node = std::make_shared<api::Node>();
    node->metadata.name = "node-" + std::to_string(number);
    node->metadata.labels = {{kHostname, node->metadata.name},
                             {kZone, zone},
                             {std::string(api::labels::kPool), "pool"},
                             {std::string(api::labels::kArch), "amd64"},
                             {std::string(api::labels::kOs), "linux"}};
    node->status.allocatable = {{"cpu", api::Quantity::of(16)},
                                {"memory", api::Quantity::of_mebibytes(65536)},
                                {"pods", api::Quantity::of(110)}};
    scheduling::NodeInfo result;
    result.node = node;
    result.pool = 0;
    return result;
}

}  // namespace

std::vector<std::string> mixes() {
    std::vector<std::string> names = {"diverse"};
    for (const auto& [name, make] : makers()) names.push_back(name);
    return names;
}

Pods make_pods(const std::string& mix, std::size_t count) {
    if (mix == "diverse") return diverse(count);
    const auto make = makers().find(mix);
    if (make == makers().end()) throw std::invalid_argument("there is no mix " + mix);
    PodMaker maker;
    Pods pods;
    pods.reserve(count);
    while (pods.size() < count) pods.push_back(make->second(maker));
    return pods;
}

scheduling::Snapshot empty_cluster() {
    constexpr std::int64_t kShapes = 400;
    scheduling::Snapshot snapshot;
    auto& pool = snapshot.pools.emplace_back();
    pool.name = "pool";
    pool.namespace_ = "default";
    pool.reserved = {100, 10};
    pool.labels = {{std::string(api::labels::kPool), "pool"},
                   {std::string(api::labels::kArch), "amd64"},
                   {std::string(api::labels::kOs), "linux"}};
    for (std::int64_t i = 1; i <= kShapes; ++i)
        pool.shapes.push_back({"shape-" + std::to_string(i), i, i * 2048, i * 10});
    for (const auto* zone : {"test-zone-1", "test-zone-2", "test-zone-3"}) {
        pool.places.push_back({snapshot.places.size(), zone, {{kZone, zone}}});
        snapshot.places.push_back({zone, {}, {}, {}});
    }
    return snapshot;
}

scheduling::Snapshot busy_cluster() {
    constexpr std::size_t kNodes = 1000;
    constexpr std::size_t kPodsPerNode = 30;
    auto snapshot = empty_cluster();
    const auto pods = diverse(kNodes * kPodsPerNode);
    for (std::size_t i = 0; i < kNodes; ++i) {
        auto node = busy_node(i, "test-zone-" + std::to_string(i % 3 + 1));
        for (std::size_t k = 0; k < kPodsPerNode; ++k) node.pods.push_back(pods[k * kNodes + i]);
        snapshot.nodes.push_back(std::move(node));
    }
    return snapshot;
}

}  // namespace bench

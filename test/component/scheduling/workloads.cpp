// scheduling-workloads: writes random workloads with our plan for each, as JSON lines, for a real cluster to
// judge.
//   {seed, features, classes, volumes, claims, nodes: [{node, csi, ready}],
//    running: [pod with spec.nodeName],
//    pods: [{pod, node (absent: refused), reasons}] in the order of placement,
//    now: how many of them need no machine that is not ready, arrival: [names]}
// The first workloads each have one kind of constraint, the rest combine them at random.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <iostream>
#include <map>

#include "api/json.hpp"
#include "test/unit/scheduling/builders.hpp"
#include "test/unit/scheduling/checker_cluster.hpp"
#include "test/unit/scheduling/random_cluster.hpp"

namespace {

namespace json = boost::json;

constexpr std::uint64_t kSeedsPerFeature = 8;

struct Planned {
    scheduling::Snapshot snapshot;
    scheduling::SolveResult result;
    std::vector<scheduling::NodeInfo> nodes;  // the snapshot's nodes, then launched ones
};

random_cluster::Options options_for(std::uint64_t seed) {
    random_cluster::Options options;
    options.most_pods = 14;
    options.most_nodes = 4;
    options.prefix = "w" + std::to_string(seed) + "-";
    const auto feature = seed / kSeedsPerFeature;
    if (feature < random_cluster::kFeatures)
        options.features = {static_cast<random_cluster::Feature>(feature)};
    return options;
}

Planned plan(std::uint64_t seed, const random_cluster::Options& options) {
    Planned planned;
    planned.snapshot = random_cluster::make(seed, options);
    planned.result = scheduling::solve(planned.snapshot);
    planned.nodes = planned.snapshot.nodes;
    for (std::size_t i = 0; i < planned.result.claims.size(); ++i) {
        auto node = builders::coming_node(planned.snapshot, planned.result, i);
        auto& metadata = builders::edit(node).metadata;
        metadata.name = options.prefix + metadata.name;
        metadata.creationTimestamp.reset();
        metadata.labels[std::string(api::labels::kHostname)] = metadata.name;
        // A resource that is not known to be limited counts as sufficient.
        builders::edit(node).status.allocatable.try_emplace("ephemeral-storage", builders::quantity("1Ti"));
        planned.nodes.push_back(std::move(node));
    }
    return planned;
}

// Returns a valid pod for an API server.
json::object encoded(api::Pod pod) {
    pod.spec.containers->at(0).name = "main";
    pod.metadata.uid.clear();
    pod.metadata.ownerReferences.reset();
    auto object = api::encode(pod).get_object();
    auto& spec = object.at("spec").as_object();
    for (const auto* list : {"containers", "initContainers"}) {
        if (!spec.contains(list)) continue;
        for (auto& container : spec.at(list).as_array())
            container.as_object()["image"] = "registry.k8s.io/pause:3.10";
    }
    return object;
}

api::Pod on(api::Pod pod, const std::string& node) {
    pod.spec.nodeName = node;
    return pod;
}

// Adds the pods that the DaemonSets' controller would make on the node.
void add_daemons(json::array& running, const Planned& planned, const scheduling::NodeInfo& node) {
    const auto& name = node.node->metadata.name;
    for (const auto& set : planned.snapshot.daemon_sets) {
        api::Pod pod;
        pod.metadata.name = set->metadata.name + "-on-" + name;
        pod.metadata.namespace_ = set->metadata.namespace_;
        pod.metadata.labels = set->spec.template_.metadata.labels;
        pod.spec = set->spec.template_.spec;
        const checker::CheckedCluster empty{planned.snapshot, {}, {}};
        const checker::CheckedNode bare{
            name, node.node->metadata.labels, node.node->spec.taints, checker::requests_of(pod), true, {}};
        if (checker::refusal(empty, bare, pod).empty()) running.push_back(encoded(on(pod, name)));
    }
}

template <class T>
json::array encoded_list(const std::vector<std::shared_ptr<const T>>& objects) {
    json::array list;
    for (const auto& object : objects) list.push_back(api::encode(*object));
    return list;
}

json::array encoded_pods(const Planned& planned) {
    json::array pods;
    for (const auto& placement : planned.result.placements) {
        const auto index =
            placement.node ? *placement.node : planned.snapshot.nodes.size() + *placement.claim;
        pods.push_back(json::object{{"pod", encoded(*placement.pod)},
                                    {"node", planned.nodes[index].node->metadata.name}});
    }
    for (const auto& refused : planned.result.unplaced)
        pods.push_back(
            json::object{{"pod", encoded(*refused.pod)},
                         {"reasons", json::array(refused.reasons.begin(), refused.reasons.end())}});
    return pods;
}

json::object workload(std::uint64_t seed) {
    const auto options = options_for(seed);
    const auto planned = plan(seed, options);
    json::array nodes;
    json::array running;
    for (const auto& node : planned.nodes) {
        json::object entry{{"node", api::encode(*node.node)},
                           {"ready", node.availability == scheduling::Availability::ready}};
        if (node.csi) entry["csi"] = api::encode(*node.csi);
        nodes.push_back(std::move(entry));
        for (const auto& pod : node.pods) running.push_back(encoded(on(*pod, node.node->metadata.name)));
        add_daemons(running, planned, node);
    }
    json::array features;
    for (const auto feature : random_cluster::features_of(seed, options))
        features.emplace_back(random_cluster::name_of(feature));
    json::array arrival;
    for (const auto& pod : planned.snapshot.pods) arrival.emplace_back(pod->metadata.name);
    return {{"seed", seed},
            {"features", std::move(features)},
            {"classes", encoded_list(planned.snapshot.volumes.classes)},
            {"volumes", encoded_list(planned.snapshot.volumes.volumes)},
            {"claims", encoded_list(planned.snapshot.volumes.claims)},
            {"nodes", std::move(nodes)},
            {"running", std::move(running)},
            {"pods", encoded_pods(planned)},
            {"now", planned.result.placed_now},
            {"arrival", std::move(arrival)}};
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Prints random workloads with the scheduling engine's plan for each, as JSON lines.");
    std::uint64_t first = 0;
    std::uint64_t count = 1;
    std::uint64_t step = 1;
    app.add_option("--first", first, "The first seed");
    app.add_option("--count", count, "How many workloads");
    app.add_option("--step", step, "How far one seed is from the next")->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    for (std::uint64_t i = 0; i < count; ++i)
        std::cout << json::serialize(workload(first + i * step)) << "\n";
    return 0;
}

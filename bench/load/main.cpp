// bench-load --kubeconfig F --nodes N --pods M: Fills a test cluster with nodes and realistic pods that run
// on them. Existing objects are not changed. Never use it on a cluster that somebody needs.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "base/task_group.hpp"
#include "bench/cluster.hpp"
#include "bench/realistic_objects.hpp"

namespace {

namespace json = boost::json;
using boost::asio::awaitable;

constexpr int kWriters = 16;
constexpr int kNamespaces = 20;

struct Numbers {
    int next = 0;
    int end;
};

// Returns false if an object with that name exists.
awaitable<bool> create(kube::Client& client, std::string collection, json::object object) {
    try {
        co_await client.call("POST", std::move(collection), std::move(object));
        co_return true;
    } catch (const kube::ApiError& error) {
        if (!error.is_already_exists()) throw;
        co_return false;
    }
}

awaitable<void> create_namespace(kube::Client& client, int number) {
    const std::string name = "team-" + std::to_string(number);
    json::object object{{"metadata", {{"name", name}}}};
    co_await create(client, "/api/v1/namespaces", std::move(object));
    json::object account{{"metadata", {{"name", "web"}}}};
    co_await create(client, "/api/v1/namespaces/" + name + "/serviceaccounts", std::move(account));
}

// Creates a pod. The API server starts every pod as Pending, so its status is written second, like a
// kubelet's.
awaitable<void> create_pod(kube::Client& client, int number, int nodes) {
    auto pod = bench::realistic_pod(number, nodes);
    auto& metadata = pod.at("metadata").as_object();
    for (const char* field :
         {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "generateName"})
        metadata.erase(field);
    const std::string name(metadata.at("name").as_string());
    const std::string collection =
        "/api/v1/namespaces/" + std::string(metadata.at("namespace").as_string()) + "/pods";
    json::object status{{"status", pod.at("status")}};
    const bool is_new = co_await create(client, collection, std::move(pod));
    if (!is_new) co_return;
    kube::Patch patch{kube::Patch::Type::merge, std::move(status)};
    const std::string target = collection + "/" + name + "/status";
    co_await client.patch_json(target, std::move(patch));
}

awaitable<void> write_nodes(kube::Client& client, Numbers& nodes) {
    while (nodes.next < nodes.end) {
        auto node = bench::realistic_node(nodes.next++);
        auto& metadata = node.at("metadata").as_object();
        for (const char* field : {"uid", "resourceVersion", "creationTimestamp"}) metadata.erase(field);
        co_await create(client, "/api/v1/nodes", std::move(node));
    }
}

awaitable<void> write_pods(kube::Client& client, Numbers& pods, int nodes) {
    while (pods.next < pods.end) {
        const int number = pods.next++;
        co_await create_pod(client, number, nodes);
        if (number % 1000 == 999) std::printf("%d pods\n", number + 1);
    }
}

awaitable<void> fill(bench::Cluster& cluster, int nodes, int pods) {
    for (int number = 0; number < kNamespaces; ++number) co_await create_namespace(cluster.client(), number);
    Numbers node_numbers{0, nodes};
    base::TaskGroup node_writers(cluster.executor());
    for (int i = 0; i < kWriters; ++i) node_writers.spawn(write_nodes(cluster.client(), node_numbers));
    co_await node_writers.join();
    Numbers pod_numbers{0, pods};
    base::TaskGroup pod_writers(cluster.executor());
    for (int i = 0; i < kWriters; ++i) pod_writers.spawn(write_pods(cluster.client(), pod_numbers, nodes));
    co_await pod_writers.join();
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Fills a test cluster with nodes and realistic pods."};
    std::string kubeconfig;
    int nodes = 500;
    int pods = 20000;
    app.add_option("--kubeconfig", kubeconfig, "of the cluster")->required();
    app.add_option("--nodes", nodes, "how many nodes")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--pods", pods, "how many pods")->check(CLI::NonNegativeNumber)->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    return bench::guarded([&] {
        bench::Cluster cluster(kubeconfig, kWriters);
        cluster.run(fill(cluster, nodes, pods));
        std::printf("nodes=%d pods=%d\n", nodes, pods);
    });
}

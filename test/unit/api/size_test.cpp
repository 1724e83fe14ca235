// Tests how much the operator keeps of an object that others made larger than its limits.
#include "api/size.hpp"

#include "api/core.hpp"
#include "api/kept_node.hpp"
#include "test/support/catch.hpp"

namespace {

constexpr std::size_t kMost = 4096;

api::Pod pod_with_labels(int count, std::size_t length) {
    api::Pod pod;
    for (int i = 0; i < count; ++i) pod.metadata.labels["l" + std::to_string(i)] = std::string(length, 'x');
    return pod;
}

}  // namespace

TEST_CASE("an object that is small enough stays as it is") {
    auto pod = pod_with_labels(5, 63);
    pod.spec.nodeName = "n";
    const auto before = pod;
    CHECK(api::shorten(pod, kMost).empty());
    CHECK(pod == before);
}

TEST_CASE("of a large object the large parts are shortened, and the small ones stay whole") {
    auto pod = pod_with_labels(1000, 63);
    pod.metadata.name = std::string(253, 'n');
    pod.spec.nodeName = "n";
    pod.spec.containers->emplace_back().resources.requests["cpu"] = api::Quantity::of(2);
    for (int i = 0; i < 1000; ++i) pod.spec.tolerations->emplace_back().key = std::string(100, 't');
    const auto containers = pod.spec.containers;
    CHECK(api::shorten(pod, kMost) == std::vector<std::string>{"metadata.labels", "spec.tolerations"});
    CHECK(api::heap_bytes(pod) < kMost + kMost / 8);  // including shared parts
    CHECK(pod.metadata.name.size() == 253);
    CHECK(pod.spec.containers == containers);
    CHECK(pod.metadata.labels.size() > 5);
    CHECK(pod.spec.tolerations.size() > 5);
}

TEST_CASE("an element that does not fit takes no place of those that do") {
    api::Pod pod;
    pod.metadata.annotations["a"] = std::string(100'000, 'x');
    pod.metadata.annotations["b"] = "true";
    CHECK(api::shorten(pod, kMost) == std::vector<std::string>{"metadata.annotations"});
    CHECK(*pod.metadata.annotations == api::StringMap{{"b", "true"}});
}

TEST_CASE("a large element of a list keeps what fits of it") {
    api::PersistentVolume volume;
    auto& terms = volume.spec.nodeAffinity.emplace().required.emplace().nodeSelectorTerms;
    auto& values = terms.emplace_back().matchExpressions.emplace_back().values;
    for (int i = 0; i < 10'000; ++i) values.push_back("node-" + std::to_string(i));
    CHECK(api::shorten(volume, kMost) ==
          std::vector<std::string>{"spec.nodeAffinity.required.nodeSelectorTerms"});
    REQUIRE(terms.size() == 1);
    REQUIRE(terms[0].matchExpressions.size() == 1);
    const auto left = terms[0].matchExpressions[0].values;
    CHECK(left.size() > 10);
    CHECK(left.size() < 200);
    CHECK(left.front() == "node-0");
}

TEST_CASE("a Node of which taints are left out keeps all pods off that do not tolerate everything") {
    api::Node node;
    for (int i = 0; i < 10'000; ++i)
        node.spec.taints.push_back({"t" + std::to_string(i), "", "NoSchedule", {}});
    CHECK(api::shorten(node, kMost) == std::vector<std::string>{"spec.taints"});
    CHECK(node.spec.taints.size() < 1000);
    CHECK(api::has_more_taints_than_kept(node));
    api::Node large_elsewhere;
    large_elsewhere.spec.taints.push_back({"t", "", "NoSchedule", {}});
    large_elsewhere.metadata.annotations["a"] = std::string(100'000, 'x');
    CHECK(api::shorten(large_elsewhere, kMost) == std::vector<std::string>{"metadata.annotations"});
    CHECK_FALSE(api::has_more_taints_than_kept(large_elsewhere));
}

namespace {

// Returns a Node of a server with two GPUs, as node-feature-discovery and gpu-feature-discovery label it.
api::Node labelled_by_discoverers() {
    api::Node node;
    node.metadata.name = "rack-1-node-7";
    auto& labels = *node.metadata.labels;
    for (const auto* key : {"kubernetes.io/arch", "kubernetes.io/hostname", "kubernetes.io/os",
                            "kubenodesmith.io/nodeclaim", "node-role.kubernetes.io/worker", "tier",
                            "topology.kubenodesmith.io/pool", "topology.kubernetes.io/zone"})
        labels[key] = "rack-1";
    std::string listed;
    for (int i = 0; i < 100; ++i) {
        const auto feature = "cpu-cpuid.AVX512VNNI" + std::to_string(i);
        labels["feature.node.kubernetes.io/" + feature] = "true";
        listed += feature + ",";
    }
    for (int i = 0; i < 50; ++i) labels["nvidia.com/gpu.deploy.component-" + std::to_string(i)] = "true";
    node.metadata.annotations["nfd.node.kubernetes.io/feature-labels"] = listed;
    for (const auto* name : {"cpu", "memory", "pods", "nvidia.com/gpu"})
        node.status.capacity[name] = node.status.allocatable[name] = api::Quantity::of(8);
    for (int i = 0; i < 6; ++i)
        node.status.conditions.push_back({"Pressure" + std::to_string(i),
                                          api::ConditionStatus::False,
                                          {},
                                          {},
                                          "KubeletHasSufficientMemory",
                                          "kubelet has sufficient memory available"});
    return node;
}

}  // namespace

TEST_CASE("a Node with the labels of two programs that discover features stays as it is") {
    auto node = labelled_by_discoverers();
    const auto before = node;
    CHECK(api::shorten(node, api::most_of<api::Node>()).empty());
    CHECK(node == before);
}

TEST_CASE("labels and resources by the thousand cut only the domains that have the most") {
    auto node = labelled_by_discoverers();
    for (int i = 0; i < 1000; ++i) {
        node.metadata.labels["a.example.org/label-" + std::to_string(i)] = std::string(63, 'x');
        node.status.capacity["a.example.org/port-" + std::to_string(i)] = api::Quantity::of(1);
    }
    const auto before = node;
    CHECK(api::shorten(node, api::most_of<api::Node>()) ==
          std::vector<std::string>{"metadata.labels", "status.capacity"});
    for (const auto& [key, value] : before.metadata.labels)
        if (!key.starts_with("a.") && !key.starts_with("feature."))
            CHECK(node.metadata.labels->contains(key));
    for (const auto& [name, amount] : before.status.capacity)
        if (!name.starts_with("a.")) CHECK(node.status.capacity.contains(name));
    CHECK(node.metadata.labels.size() < before.metadata.labels.size());
}

TEST_CASE("a long text keeps its beginning, and a shared part stays as it is for others") {
    api::Node node;
    node.status.nodeInfo.machineID = std::string(100'000, 'm');
    CHECK(api::shorten(node, kMost) == std::vector<std::string>{"status.nodeInfo.machineID"});
    CHECK(node.status.nodeInfo.machineID.size() <= kMost);
    auto pod = pod_with_labels(1000, 63);
    const auto other = pod;
    api::shorten(pod, kMost);
    CHECK(other.metadata.labels.size() == 1000);
}

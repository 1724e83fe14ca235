// Tests what DaemonSets use of a machine: the requests of their real pods, with the additions of admission.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

std::shared_ptr<api::DaemonSet> daemon_set(const std::string& cpu = "100m") {
    auto made = std::make_shared<api::DaemonSet>();
    made->metadata.name = "agent";
    made->metadata.namespace_ = "monitoring";
    made->metadata.uid = "uid-agent";
    auto& container = made->spec.template_.spec.containers->emplace_back();
    container.name = "agent";
    container.resources.requests["cpu"] = quantity(cpu);
    return made;
}

std::shared_ptr<api::Pod> pod_of(const api::DaemonSet& daemon_set, const std::string& cpu) {
    auto pod = std::make_shared<api::Pod>();
    pod->metadata.name = "agent-" + cpu;
    pod->metadata.namespace_ = daemon_set.metadata.namespace_;
    pod->metadata.creationTimestamp = api::Time::parse("2026-01-01T00:00:00Z");
    auto& owner = pod->metadata.ownerReferences->emplace_back();
    owner.kind = "DaemonSet";
    owner.uid = daemon_set.metadata.uid;
    owner.controller = true;
    pod->spec.containers->emplace_back().resources.requests["cpu"] = quantity(cpu);
    pod->status.phase = api::PodPhase::Running;
    return pod;
}

// Returns a full node of the pool, and a waiting pod.
scheduling::Snapshot cluster(const std::vector<std::shared_ptr<api::Pod>>& pods) {
    auto cluster = snapshot();
    cluster.nodes = {node("old", "0")};
    cluster.nodes[0].pool = 0;
    for (const auto& pod : pods) cluster.nodes[0].pods.push_back(pod);
    cluster.pods = {PodBuilder("p", "1")};
    cluster.daemon_sets = {daemon_set()};
    return cluster;
}

std::int64_t cores(const scheduling::Snapshot& cluster) {
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    return result.claims[0].cpu_cores;
}

std::shared_ptr<api::RuntimeClass> runtime_class(const std::string& cpu) {
    auto made = std::make_shared<api::RuntimeClass>();
    made->metadata.name = "sandbox";
    made->overhead.emplace().podFixed["cpu"] = quantity(cpu);
    return made;
}

scheduling::Snapshot sandboxed() {
    auto cluster = snapshot();
    cluster.pods = {PodBuilder("p", "1")};
    auto set = daemon_set();
    set->spec.template_.spec.runtimeClassName = "sandbox";
    cluster.daemon_sets = {set};
    return cluster;
}

}  // namespace

TEST_CASE("a machine has room for what the pods of DaemonSets ask for, whatever their template says") {
    const auto set = daemon_set();
    CHECK(cores(cluster({})) == 2);
    CHECK(cores(cluster({pod_of(*set, "1500m")})) == 3);
    auto injected = pod_of(*set, "100m");
    injected->spec.containers->push_back(injected->spec.containers->front());
    injected->spec.containers->back().resources.requests["cpu"] = quantity("2");
    CHECK(cores(cluster({injected})) == 4);
    // A pod that is smaller than its template may be an exception.
    CHECK(cores(cluster({pod_of(*set, "1m")})) == 2);
}

TEST_CASE("pods of DaemonSets count where they wait for room as well, and on nodes that leave") {
    const auto set = daemon_set();
    auto cluster = ::cluster({});
    auto waits = pod_of(*set, "2");
    auto& term = waits->spec.affinity->nodeAffinity.emplace()
                     .requiredDuringSchedulingIgnoredDuringExecution.emplace()
                     .nodeSelectorTerms.emplace_back();
    term.matchFields = {{"metadata.name", api::SelectorOperator::In, {"old"}}};
    cluster.waiting_daemon_pods = {waits};
    CHECK(cores(cluster) == 3);
    cluster = ::cluster({pod_of(*set, "2")});
    cluster.nodes[0].availability = scheduling::Availability::leaving;
    CHECK(cores(cluster) == 3);
}

TEST_CASE("pods of other pools, other owners and older revisions say nothing of the next pod") {
    const auto set = daemon_set();
    auto elsewhere = cluster({pod_of(*set, "3")});
    elsewhere.nodes[0].pool.reset();
    CHECK(cores(elsewhere) == 2);

    auto not_controlled = pod_of(*set, "3");
    not_controlled->metadata.ownerReferences->front().controller = false;
    CHECK(cores(cluster({not_controlled})) == 2);

    // The owner is in another namespace, so its controller did not make the pod.
    auto imitated = pod_of(*set, "3");
    imitated->metadata.namespace_ = "default";
    CHECK(cores(cluster({imitated})) == 2);

    auto old = pod_of(*set, "3");
    old->metadata.labels["pod-template-generation"] = "1";
    auto updated = cluster({old});
    auto newer = daemon_set();
    newer->metadata.annotations[std::string(api::annotations::kTemplateGeneration)] = "2";
    updated.daemon_sets = {newer};
    CHECK(cores(updated) == 2);

    old = pod_of(*set, "3");
    old->metadata.labels["controller-revision-hash"] = "a";
    auto young = pod_of(*set, "200m");
    young->metadata.labels["controller-revision-hash"] = "b";
    young->metadata.creationTimestamp = api::Time::parse("2026-01-02T00:00:00Z");
    CHECK(cores(cluster({old, young})) == 2);
}

TEST_CASE("the newest pod of a DaemonSet shows what the next one asks for") {
    const auto set = daemon_set();
    auto young = pod_of(*set, "1500m");
    young->metadata.creationTimestamp = api::Time::parse("2026-01-02T00:00:00Z");
    CHECK(cores(cluster({pod_of(*set, "4"), young})) == 3);
    CHECK(cores(cluster({pod_of(*set, "1500m"), pod_of(*set, "2500m")})) == 4);
}

TEST_CASE("a pod of a DaemonSet that no machine could hold does not make machines larger") {
    CHECK(cores(cluster({pod_of(*daemon_set(), "100")})) == 2);
}

TEST_CASE("what the pods of a DaemonSet asked for on former nodes of a pool counts while it has none") {
    auto cluster = ::cluster({});
    cluster.nodes.clear();
    cluster.pools[0].learned_daemons = {{"uid-agent", "7", 1500, 0}};
    CHECK(cores(cluster) == 2);
    auto numbered = daemon_set();
    numbered->metadata.annotations[std::string(api::annotations::kTemplateGeneration)] = "7";
    cluster.daemon_sets = {numbered};
    CHECK(cores(cluster) == 3);
    // Its pods on a present node show more.
    auto with_node = ::cluster({pod_of(*numbered, "200m")});
    with_node.daemon_sets = cluster.daemon_sets;
    with_node.pools = cluster.pools;
    CHECK(cores(with_node) == 2);
    // The template may ask for more by now, and no machine could hold the pod.
    cluster.pools[0].learned_daemons[0].cpu_millicores = 1;
    CHECK(cores(cluster) == 2);
    cluster.pools[0].learned_daemons[0].cpu_millicores = 1'000'000;
    CHECK(cores(cluster) == 2);
}

TEST_CASE("pods of DaemonSets get the overhead of their RuntimeClass") {
    auto cluster = sandboxed();
    cluster.runtime_classes = {runtime_class("1500m")};
    CHECK(cores(cluster) == 3);
    // Without the class the API server refuses the pods.
    cluster.runtime_classes.clear();
    CHECK(cores(cluster) == 1);
}

TEST_CASE("a DaemonSet runs only where its RuntimeClass sends it") {
    auto cluster = sandboxed();
    auto elsewhere = runtime_class("1500m");
    elsewhere->scheduling.emplace().nodeSelector["sandbox"] = "yes";
    cluster.runtime_classes = {elsewhere};
    CHECK(cores(cluster) == 1);
    cluster.pools[0].labels["sandbox"] = "yes";
    CHECK(cores(cluster) == 3);
    cluster.pools[0].taints = {taint("sandbox")};
    cluster.pods = {PodBuilder("p", "1").tolerate("sandbox")};
    CHECK(cores(cluster) == 1);
    api::Toleration tolerates;
    tolerates.key = "sandbox";
    tolerates.operator_ = api::TolerationOperator::Exists;
    elsewhere->scheduling->tolerations = {tolerates};
    CHECK(cores(cluster) == 3);
}

TEST_CASE("a DaemonSet whose pods a LimitRange refuses takes nothing") {
    auto cluster = snapshot();
    cluster.pods = {PodBuilder("p", "1")};
    cluster.daemon_sets = {daemon_set("2")};
    CHECK(cores(cluster) == 3);
    auto range = std::make_shared<api::LimitRange>();
    range->metadata.namespace_ = "monitoring";
    auto& item = range->spec.limits.emplace_back();
    item.type = "Container";
    item.max["cpu"] = quantity("1");
    cluster.limit_ranges = {range};
    CHECK(cores(cluster) == 1);
}

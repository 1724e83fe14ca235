// Tests that every reason names the object and the field that it is about, and what a person can change.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::MachineSize;
using scheduling::Snapshot;

namespace {

struct Row {
    std::string situation;
    std::function<void(Snapshot&, PodBuilder&)> prepare;
    std::vector<std::string> named;  // object and field
    std::string advice;
};

std::shared_ptr<api::StorageClass> fast_class(api::VolumeBindingMode binding_mode) {
    auto made = std::make_shared<api::StorageClass>();
    made->metadata.name = "fast";
    made->provisioner = "csi.test";
    made->volumeBindingMode = binding_mode;
    return made;
}

// Gives the pod a claim "data" of class "fast".
api::PersistentVolumeClaim& add_claim(Snapshot& cluster, PodBuilder& pod) {
    pod.mount("data");
    auto claim = std::make_shared<api::PersistentVolumeClaim>();
    claim->metadata.name = "data";
    claim->metadata.namespace_ = "default";
    claim->spec.storageClassName = "fast";
    claim->status.phase = "Pending";
    claim->spec.resources.requests["storage"] = quantity("10Gi");
    cluster.volumes.claims = {claim};
    return *claim;
}

void add_full_storage(Snapshot& cluster, PodBuilder& pod) {
    add_claim(cluster, pod);
    cluster.volumes.classes = {fast_class(api::VolumeBindingMode::WaitForFirstConsumer)};
    auto driver = std::make_shared<api::CSIDriver>();
    driver->metadata.name = "csi.test";
    driver->spec.storageCapacity = true;
    cluster.volumes.drivers = {driver};
    auto capacity = std::make_shared<api::CSIStorageCapacity>();
    capacity->storageClassName = "fast";
    capacity->nodeTopology.emplace();
    capacity->capacity = quantity("1Gi");
    cluster.volumes.capacities = {capacity};
}

std::vector<Row> rows_of_pools() {
    std::vector<Row> rows;
    const auto add = [&](std::string situation, std::vector<std::string> named, std::string advice,
                         std::function<void(Snapshot&, PodBuilder&)> prepare) {
        named.emplace_back("pool small");
        rows.push_back({std::move(situation), std::move(prepare), std::move(named), std::move(advice)});
    };
    add("taint", {"team:NoSchedule", "machineTemplate.taints"}, "let the pod tolerate it",
        [](Snapshot& cluster, PodBuilder&) { cluster.pools[0].taints = {taint("team")}; });
    add("label", {"disk=ssd", "machineTemplate.labels"}, "add it",
        [](Snapshot&, PodBuilder& pod) { pod.select("disk", "ssd"); });
    add("affinity", {"node affinity", "disk"}, "machineTemplate.labels",
        [](Snapshot&, PodBuilder& pod) { pod.require({in("disk", {"ssd"})}); });
    add("selector and affinity", {"disk=ssd", "node affinity", "together"}, "change one of them",
        [](Snapshot& cluster, PodBuilder& pod) {
            add_places(cluster, {"host-b"});
            cluster.pools[0].places[0].labels["disk"] = "ssd";
            pod.select("disk", "ssd").require({in(std::string(api::labels::kZone), {"host-b"})});
        });
    add("DaemonSets", {"DaemonSets leave no room", "bootstrap.kubelet.maxPods"}, "keep some of them off",
        [](Snapshot& cluster, PodBuilder&) {
            cluster.pools[0].pods_per_node = 1;
            auto set = std::make_shared<api::DaemonSet>();
            set->metadata.name = "agent";
            set->metadata.namespace_ = "default";
            set->metadata.uid = "agent-uid";
            set->spec.template_.spec.containers = std::vector<api::Container>(1);
            cluster.daemon_sets = {set};
        });
    add("device", {"example.org/gpu", "machineTemplate.extendedResources"}, "state it",
        [](Snapshot&, PodBuilder& pod) { pod.requests({{"example.org/gpu", "1"}}); });
    add("too many devices", {"2 example.org/gpu", "machineTemplate.extendedResources"}, "state it",
        [](Snapshot& cluster, PodBuilder& pod) {
            cluster.pools[0].extended_resources["example.org/gpu"] = quantity("1");
            pod.requests({{"example.org/gpu", "2"}});
        });
    add("flexible size", {"40 CPUs", "machineTemplate.flexible"}, "ask for less",
        [](Snapshot&, PodBuilder& pod) { pod.requests({{"cpu", "40"}}); });
    add("fixed sizes", {"40 GiB", "machineTemplate.sizes"}, "ask for less",
        [](Snapshot& cluster, PodBuilder& pod) {
            cluster.pools[0].shapes = {{"s", 2, 4096}};
            pod.requests({{"memory", "40Gi"}});
        });
    add("small hosts", {"8 CPUs", "no host can give one machine more"}, "add a larger host",
        [](Snapshot& cluster, PodBuilder& pod) {
            cluster.places[0].largest = MachineSize{4, 8192};
            pod.requests({{"cpu", "8"}});
        });
    add("two resources", {"12 CPUs and 40 GiB"}, "ask for less", [](Snapshot& cluster, PodBuilder& pod) {
        cluster.pools[0].shapes = {{"cpu", 16, 8192}, {"memory", 2, 65536}};
        pod.requests({{"cpu", "12"}, {"memory", "40Gi"}});
    });
    add("disk", {"5 GiB of ephemeral storage"}, "larger boot disk", [](Snapshot& cluster, PodBuilder& pod) {
        cluster.pools[0].ephemeral_storage_mib = 1024;
        pod.requests({{"ephemeral-storage", "5Gi"}});
    });
    add("full hosts", {"no host has room for a machine with 1 CPU"}, "add a host",
        [](Snapshot& cluster, PodBuilder&) { cluster.places[0].free_cpu_cores = 0; });
    // The field is the advice.
    add("limit", {"limits.maxNodes"}, "0 nodes left", [](Snapshot& cluster, PodBuilder&) {
        cluster.budgets = {{"limits.maxNodes of pool small", 0, {}, {}}};
        cluster.pools[0].budgets = {0};
    });
    add("hosts in use", {"metal-1"}, "add hosts", [](Snapshot& cluster, PodBuilder&) {
        cluster.pools[0].places.clear();
        cluster.pools[0].busy = {{"metal-1", {}, MachineSize{16, 65536}, true}};
    });
    add("storage without room", {"storage class fast", "claim data", "CSIStorageCapacity"}, "free room",
        add_full_storage);
    add("stated storage", {"storage class fast", "claim data", "machineTemplate.storageCapacity", "5Gi"},
        "state more", [](Snapshot& cluster, PodBuilder& pod) {
            add_full_storage(cluster, pod);
            cluster.volumes.capacities.clear();
            cluster.pools[0].storage_capacity["fast"] = quantity("5Gi");
        });
    return rows;
}

std::vector<Row> rows_of_claims() {
    return {
        {"missing claim", [](Snapshot&, PodBuilder& pod) { pod.mount("data"); }, {"claim data"}, "create it"},
        {"unbound claim",
         [](Snapshot& cluster, PodBuilder& pod) {
             add_claim(cluster, pod);
             cluster.volumes.classes = {fast_class(api::VolumeBindingMode::Immediate)};
         },
         {"claim data", "storage class fast"},
         "kubectl describe pvc data"},
        {"lost claim",
         [](Snapshot& cluster, PodBuilder& pod) { add_claim(cluster, pod).status.phase = "Lost"; },
         {"claim data"},
         "restore the volume"},
        {"deleted claim",
         [](Snapshot& cluster, PodBuilder& pod) {
             add_claim(cluster, pod).metadata.deletionTimestamp = api::Time::parse("2026-01-01T00:00:00Z");
         },
         {"claim data"},
         "finalizers"},
        {"missing class",
         [](Snapshot& cluster, PodBuilder& pod) { add_claim(cluster, pod); },
         {"claim data", "storage class fast"},
         "create it"},
        {"no default class",
         [](Snapshot& cluster, PodBuilder& pod) { add_claim(cluster, pod).spec.storageClassName.reset(); },
         {"claim data", "is-default-class"},
         "name one"},
        {"missing volume",
         [](Snapshot& cluster, PodBuilder& pod) { add_claim(cluster, pod).spec.volumeName = "v"; },
         {"volume v", "claim data"},
         "restore it"},
    };
}

void check(const Row& row) {
    INFO(row.situation);
    auto cluster = snapshot();
    PodBuilder pod("p");
    row.prepare(cluster, pod);
    cluster.pods = {pod};
    const auto result = scheduling::solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    REQUIRE(result.unplaced[0].reasons.size() == 1);
    const auto& reason = result.unplaced[0].reasons[0];
    for (const auto& word : row.named) CHECK_THAT(reason, Catch::Contains(word));
    CHECK_THAT(reason, Catch::Contains(row.advice));
}

}  // namespace

TEST_CASE("a reason of a pool names the field, and says what a person can change") {
    for (const auto& row : rows_of_pools()) check(row);
}

TEST_CASE("a reason about a volume names its claim, and says what a person can change") {
    for (const auto& row : rows_of_claims()) check(row);
}

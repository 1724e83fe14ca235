// Tests pods that no machine can help, because nobody offers their devices or storage. Also tests what
// DaemonSets use by default.
#include "scheduling/removal.hpp"
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

const std::string kZone(api::labels::kZone);
using Reasons = std::vector<std::string>;

PodBuilder with_device(const std::string& name, const std::string& claim) {
    PodBuilder pod(name);
    auto& wish = pod.pod.spec.resourceClaims->emplace_back();
    wish.name = "gpu";
    wish.resourceClaimName = claim;
    return pod;
}

PodBuilder with_volume(const std::string& name) {
    PodBuilder pod(name);
    auto& volume = pod.pod.spec.volumes->emplace_back();
    volume.name = "data";
    volume.persistentVolumeClaim.emplace().claimName = "data";
    return pod;
}

std::shared_ptr<api::CSIStorageCapacity> capacity(const std::string& amount,
                                                  api::LabelSelector topology = {}) {
    auto made = std::make_shared<api::CSIStorageCapacity>();
    made->metadata.name = "room-" + amount;
    made->storageClassName = "late";
    made->nodeTopology = std::move(topology);
    made->capacity = quantity(amount);
    return made;
}

api::LabelSelector zone(const std::string& name) {
    api::LabelSelector selector;
    selector.matchLabels[kZone] = name;
    return selector;
}

// Returns two zones and a pod with a volume of 10 GiB that a driver must make. The driver reports its room.
scheduling::Snapshot cluster_with_storage() {
    auto cluster = snapshot();
    add_places(cluster, {"host-b"});
    auto claim = std::make_shared<api::PersistentVolumeClaim>();
    claim->metadata.name = "data";
    claim->metadata.namespace_ = "default";
    claim->spec.storageClassName = "late";
    claim->spec.resources.requests["storage"] = quantity("10Gi");
    auto storage_class = std::make_shared<api::StorageClass>();
    storage_class->metadata.name = "late";
    storage_class->provisioner = "csi.test";
    storage_class->volumeBindingMode = api::VolumeBindingMode::WaitForFirstConsumer;
    auto driver = std::make_shared<api::CSIDriver>();
    driver->metadata.name = "csi.test";
    driver->spec.storageCapacity = true;
    cluster.volumes.claims = {claim};
    cluster.volumes.classes = {storage_class};
    cluster.volumes.drivers = {driver};
    cluster.pods = {with_volume("p")};
    return cluster;
}

std::shared_ptr<const api::CSINode> csi_node(const std::string& key) {
    auto csi = std::make_shared<api::CSINode>();
    csi->spec.drivers.push_back({"csi.test", "", {key}, {}});
    return csi;
}

std::shared_ptr<api::DaemonSet> daemon_set() {
    auto made = std::make_shared<api::DaemonSet>();
    made->metadata.name = "agent";
    made->metadata.namespace_ = "monitoring";
    made->metadata.uid = "uid-agent";
    made->spec.template_.spec.containers->emplace_back();
    return made;
}

std::shared_ptr<api::LimitRange> limit_range(const std::string& namespace_ = "monitoring") {
    auto made = std::make_shared<api::LimitRange>();
    made->metadata.name = "defaults";
    made->metadata.namespace_ = namespace_;
    made->spec.limits.emplace_back().type = "Container";
    return made;
}

std::int64_t cores_launched(const scheduling::Snapshot& cluster) {
    const auto result = solve(cluster);
    return result.claims.empty() ? 0 : result.claims[0].cpu_cores;
}

}  // namespace

TEST_CASE(
    "no machine is launched for a pod that requests devices through a ResourceClaim, and its reason says "
    "so") {
    auto cluster = snapshot();
    cluster.nodes = {node("n")};
    cluster.pods = {with_device("trains", "one-gpu"), PodBuilder("plain", "6")};
    auto from_template = with_device("infers", "");
    from_template.pod.spec.resourceClaims->at(0).resourceClaimTemplateName = "any-gpu";
    cluster.pods.push_back(from_template);
    const auto result = solve(cluster);
    CHECK(pods_by_claim(result) == std::vector<std::vector<std::string>>{{"plain"}});
    REQUIRE(result.unplaced.size() == 2);
    std::map<std::string, Reasons> reasons;
    for (const auto& unplaced : result.unplaced) reasons[unplaced.pod->metadata.name] = unplaced.reasons;
    const std::string remedy =
        ": ask for an extended resource that a pool states in machineTemplate.extendedResources";
    CHECK(reasons["trains"] ==
          Reasons{"it asks for devices through ResourceClaim one-gpu, which no machine of a "
                  "pool is known to offer" +
                  remedy});
    CHECK(reasons["infers"] == Reasons{"it asks for devices through ResourceClaimTemplate any-gpu, which no "
                                       "machine of a pool is known to offer" +
                                       remedy});
}

TEST_CASE(
    "a node whose pod has devices through a ResourceClaim does not go, and an empty one is not kept for it") {
    auto cluster = snapshot();
    cluster.nodes = {node("used"), node("empty")};
    cluster.nodes[0].pods = {with_device("runs", "one-gpu")};
    cluster.pods = {with_device("waits", "other-gpu")};
    CHECK_FALSE(scheduling::simulate_removal(cluster, {.nodes = {0}}).possible);
    CHECK(scheduling::simulate_removal(cluster, {.nodes = {1}}).possible);
}

TEST_CASE("nothing is launched for a volume for which no reported capacity has room") {
    auto cluster = cluster_with_storage();
    const Reasons expected{
        "pool small: storage class late has no room left for a volume of 10Gi for claim data where its nodes "
        "are (CSIStorageCapacity): free room there, or ask for less"};
    const auto refused = [&] {
        const auto result = solve(cluster);
        return result.claims.empty() && result.unplaced.size() == 1 && result.unplaced[0].reasons == expected;
    };
    cluster.volumes.capacities = {capacity("9Gi")};
    CHECK(refused());
    cluster.volumes.capacities = {capacity("10Gi")};
    CHECK(solve(cluster).claims.size() == 1);
    // The maximum size of one volume counts before the total capacity.
    auto bounded = capacity("100Gi");
    bounded->maximumVolumeSize = quantity("5Gi");
    cluster.volumes.capacities = {bounded};
    CHECK(refused());
    auto nowhere = capacity("100Gi");
    nowhere->nodeTopology.reset();
    cluster.volumes.capacities = {nowhere};
    CHECK(refused());
    // The driver runs in the zone of the new machines and reports no room there.
    cluster.volumes.capacities.clear();
    cluster.nodes = {node("full", "0")};
    edit(cluster.nodes[0]).metadata.labels[kZone] = "host-a";
    cluster.nodes[0].csi = csi_node(kZone);
    CHECK(refused());
    // What it reports of another class says nothing.
    auto other_class = capacity("100Gi");
    other_class->storageClassName = "other";
    cluster.volumes.capacities = {other_class};
    CHECK(refused());
}

TEST_CASE("a machine is tried for local storage while no driver runs on any node, as in an empty pool") {
    auto cluster = cluster_with_storage();
    CHECK(solve(cluster).claims.size() == 1);
    // A node without the driver, such as a control plane, says nothing.
    cluster.nodes = {node("control", "0")};
    cluster.nodes[0].csi = std::make_shared<api::CSINode>();
    CHECK(solve(cluster).claims.size() == 1);
    auto other_class = capacity("100Gi");
    other_class->storageClassName = "other";
    cluster.volumes.capacities = {other_class};
    CHECK(solve(cluster).claims.size() == 1);
}

TEST_CASE("capacity matters only for drivers that ask for it, and for volumes that state a size") {
    auto cluster = cluster_with_storage();
    cluster.volumes.drivers.clear();
    CHECK(solve(cluster).claims.size() == 1);
    cluster = cluster_with_storage();
    auto driver = *cluster.volumes.drivers[0];
    driver.spec.storageCapacity = false;
    cluster.volumes.drivers = {std::make_shared<const api::CSIDriver>(driver)};
    CHECK(solve(cluster).claims.size() == 1);
    cluster = cluster_with_storage();
    auto claim = *cluster.volumes.claims[0];
    claim.spec.resources.requests.clear();
    cluster.volumes.claims = {std::make_shared<const api::PersistentVolumeClaim>(claim)};
    CHECK(solve(cluster).claims.size() == 1);
}

TEST_CASE("a machine is launched where its volume finds room") {
    auto cluster = cluster_with_storage();
    cluster.volumes.capacities = {capacity("1Gi", zone("host-a")), capacity("50Gi", zone("host-b"))};
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].zone == "host-b");
}

TEST_CASE("a full zone has no room for a new machine, although the region of new machines is not known") {
    auto cluster = cluster_with_storage();
    const auto in_region = [](api::LabelSelector topology) {
        topology.matchLabels[std::string(api::labels::kRegion)] = "lab";
        return topology;
    };
    cluster.volumes.capacities = {capacity("1Gi", in_region(zone("host-a"))),
                                  capacity("50Gi", in_region(zone("host-b")))};
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].zone == "host-b");
}

TEST_CASE("where a driver tells its room by a label of its own, a new machine may bring some") {
    auto cluster = cluster_with_storage();
    cluster.nodes = {node("full")};
    edit(cluster.nodes[0]).metadata.labels["csi.test/node"] = "full";
    api::LabelSelector full;
    full.matchLabels["csi.test/node"] = "full";
    cluster.volumes.capacities = {capacity("1Gi", full)};
    CHECK(solve(cluster).claims.size() == 1);
    // The operator also knows it before anything is reported.
    cluster.volumes.capacities.clear();
    cluster.nodes[0].csi = csi_node("csi.test/node");
    CHECK(solve(cluster).claims.size() == 1);
    cluster.nodes[0].csi = csi_node(kZone);
    CHECK(solve(cluster).claims.empty());
}

TEST_CASE("what present nodes have left of local storage says nothing of a new machine") {
    auto cluster = cluster_with_storage();
    cluster.nodes = {node("full")};
    const std::string hostname(api::labels::kHostname);
    api::LabelSelector by_name;
    by_name.matchLabels[hostname] = "full";
    cluster.volumes.capacities = {capacity("1Gi", by_name)};
    CHECK(solve(cluster).claims.size() == 1);
    api::LabelSelector by_names;
    by_names.matchExpressions = {in(hostname, {"full", "other"})};
    cluster.volumes.capacities = {capacity("1Gi", by_names)};
    CHECK(solve(cluster).claims.size() == 1);
    by_name.matchLabels[kZone] = "host-a";
    cluster.volumes.capacities = {capacity("1Gi", by_name)};
    CHECK(solve(cluster).claims.size() == 1);
    // The zone is a host, which a new machine shares with existing ones.
    cluster.volumes.capacities = {capacity("1Gi", zone("host-a"))};
    CHECK(solve(cluster).claims.empty());
}

TEST_CASE("where the youngest node of a pool had too little storage when it was new, no other is created") {
    auto cluster = cluster_with_storage();
    cluster.nodes = {node("new", "0")};
    cluster.nodes[0].pool = 0;
    api::LabelSelector by_name;
    by_name.matchLabels[std::string(api::labels::kHostname)] = "new";
    cluster.volumes.capacities = {capacity("1Gi", by_name)};
    CHECK(solve(cluster).claims.empty());
    // A machine of an older template proves nothing, nor does one that already has a volume.
    cluster.nodes[0].is_of_present_template = false;
    CHECK(solve(cluster).claims.size() == 1);
    cluster.nodes[0].is_of_present_template = true;
    auto volume = std::make_shared<api::PersistentVolume>();
    volume->spec.csi.emplace().driver = "csi.test";
    auto& required = volume->spec.nodeAffinity.emplace().required.emplace();
    required.nodeSelectorTerms.emplace_back().matchExpressions = {
        in(std::string(api::labels::kHostname), {"new"})};
    cluster.volumes.volumes = {volume};
    CHECK(solve(cluster).claims.size() == 1);
    cluster.volumes.volumes.clear();
    cluster.volumes.capacities = {capacity("50Gi", by_name)};
    CHECK(solve(cluster).claims.size() == 1);
}

TEST_CASE("what a pool states about storage goes before what its youngest node shows") {
    auto cluster = cluster_with_storage();
    cluster.nodes = {node("new", "0")};
    cluster.nodes[0].pool = 0;
    auto& stated = cluster.pools[0].storage_capacity;
    const auto machines = [&cluster](const std::string& reported) {
        api::LabelSelector by_name;
        by_name.matchLabels[std::string(api::labels::kHostname)] = "new";
        cluster.volumes.capacities = {capacity(reported, by_name)};
        return solve(cluster).claims.size();
    };
    const auto reason = [&cluster] {
        const auto result = solve(cluster);
        return result.unplaced.empty() ? std::string() : result.unplaced[0].reasons.at(0);
    };
    stated["late"] = quantity("50Gi");
    CHECK(machines("1Gi") == 1);
    stated["late"] = quantity("10Gi");
    CHECK(machines("1Gi") == 1);
    stated["late"] = quantity("5Gi");
    CHECK(machines("50Gi") == 0);
    CHECK(reason() ==
          "pool small: storage class late has no room for a volume of 10Gi for claim data, because "
          "machineTemplate.storageCapacity of the pool states 5Gi: ask for less, or state more if its "
          "machines have it");
    SECTION("for the class that it names only") {
        stated = {{"other", quantity("50Gi")}};
        CHECK(machines("1Gi") == 0);
        CHECK_THAT(
            reason(),
            Catch::Contains("state in machineTemplate.storageCapacity of the pool what a new machine has"));
        CHECK(machines("50Gi") == 1);
    }
    SECTION("but a report about the machine's zone decides") {
        stated["late"] = quantity("50Gi");
        cluster.volumes.capacities = {capacity("1Gi", zone("host-a")), capacity("1Gi", zone("host-b"))};
        CHECK(solve(cluster).claims.empty());
        CHECK_THAT(reason(), Catch::EndsWith("(CSIStorageCapacity): free room there, or ask for less"));
    }
}

TEST_CASE("where nobody reports storage, what the pool states decides whether a machine is tried") {
    auto cluster = cluster_with_storage();
    auto& stated = cluster.pools[0].storage_capacity;
    for (const auto* amount : {"0", "5Gi", "-1"}) {
        stated["late"] = quantity(amount);
        CHECK(solve(cluster).claims.empty());
    }
    stated["late"] = quantity("50Gi");
    CHECK(solve(cluster).claims.size() == 1);
}

TEST_CASE("a machine that comes is not waited for where its pool states too little storage") {
    auto cluster = cluster_with_storage();
    cluster.nodes = {node("young")};
    cluster.nodes[0].pool = 0;
    cluster.nodes[0].availability = scheduling::Availability::coming;
    auto& stated = cluster.pools[0].storage_capacity;
    stated["late"] = quantity("50Gi");
    CHECK(target_of(cluster, solve(cluster), "p") == "young");
    stated["late"] = quantity("5Gi");
    CHECK(solve(cluster).unplaced.size() == 1);
}

TEST_CASE("a node that comes or has just come is waited for until its driver has reported") {
    auto cluster = cluster_with_storage();
    cluster.nodes = {node("young")};
    api::LabelSelector other;
    other.matchLabels["csi.test/node"] = "other";
    cluster.volumes.capacities = {capacity("1Gi", other)};
    CHECK(solve(cluster).claims.size() == 1);
    cluster.nodes[0].is_settling = true;
    CHECK(target_of(cluster, solve(cluster), "p") == "young");
    cluster.nodes[0].is_settling = false;
    cluster.nodes[0].availability = scheduling::Availability::coming;
    CHECK(target_of(cluster, solve(cluster), "p") == "young");
    // The node has reported, and it reports too little.
    other.matchLabels["csi.test/node"] = "young";
    edit(cluster.nodes[0]).metadata.labels["csi.test/node"] = "young";
    cluster.volumes.capacities = {capacity("1Gi", other)};
    CHECK(target_of(cluster, solve(cluster), "p") == "claim 0");
}

TEST_CASE("pods of DaemonSets take what the LimitRange of their namespace gives them") {
    auto cluster = snapshot();
    cluster.pods = {PodBuilder("p", "1")};
    cluster.daemon_sets = {daemon_set()};
    REQUIRE(cores_launched(cluster) == 1);
    auto range = limit_range();
    range->spec.limits[0].defaultRequest["cpu"] = quantity("2");
    range->spec.limits[0].default_["cpu"] = quantity("4");
    cluster.limit_ranges = {range};
    CHECK(cores_launched(cluster) == 3);
    range->spec.limits[0].defaultRequest.clear();
    CHECK(cores_launched(cluster) == 5);
    range->spec.limits[0].default_.clear();
    range->spec.limits[0].max["cpu"] = quantity("3");
    CHECK(cores_launched(cluster) == 4);
    range->spec.limits[0].max.clear();
    range->spec.limits[0].min["cpu"] = quantity("1");
    CHECK(cores_launched(cluster) == 2);
    range->spec.limits[0].type = "Pod";
    CHECK(cores_launched(cluster) == 1);
    cluster.limit_ranges = {limit_range("default")};
    CHECK(cores_launched(cluster) == 1);
}

TEST_CASE("what a DaemonSet's container states itself goes before the LimitRange") {
    auto cluster = snapshot();
    cluster.pods = {PodBuilder("p", "1")};
    auto range = limit_range();
    range->spec.limits[0].defaultRequest["cpu"] = quantity("8");
    cluster.limit_ranges = {range};
    auto stated = daemon_set();
    stated->spec.template_.spec.containers->at(0).resources.requests["cpu"] = quantity("1");
    cluster.daemon_sets = {stated};
    CHECK(cores_launched(cluster) == 2);
    auto limited = daemon_set();
    limited->spec.template_.spec.containers->at(0).resources.limits["cpu"] = quantity("2");
    cluster.daemon_sets = {limited};
    CHECK(cores_launched(cluster) == 3);
}

TEST_CASE("expendable pods need no place when their node goes") {
    auto cluster = snapshot();
    cluster.nodes = {node("n")};
    cluster.nodes[0].pods = {PodBuilder("batch").priority(-20)};
    CHECK_FALSE(scheduling::simulate_removal(cluster, {.nodes = {0}}).possible);
    cluster.expendable_below = -10;
    CHECK(scheduling::simulate_removal(cluster, {.nodes = {0}}).possible);
    cluster.nodes[0].pods = {PodBuilder("batch").priority(-10)};
    CHECK_FALSE(scheduling::simulate_removal(cluster, {.nodes = {0}}).possible);
}

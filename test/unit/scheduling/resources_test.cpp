#include "scheduling/table/amounts.hpp"

#include "scheduling/pods/pod_defaults.hpp"
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::kCpu;
using scheduling::kMemory;
using scheduling::kPods;

namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

scheduling::Amounts requests(const api::Pod& pod) {
    scheduling::ResourceNames names;
    return scheduling::requests_of(pod.spec, names);
}

scheduling::Amounts taken(const api::Pod& pod) {
    scheduling::ResourceNames names;
    return scheduling::taken_by(pod, names);
}

// Returns a running pod of one container "main", with the resources that its node has set aside and the ones
// that it really has.
api::Pod running(const std::string& wanted, const std::string& allocated, const std::string& actual) {
    auto pod = PodBuilder("a", wanted).pod;
    pod.spec.containers->at(0).name = "main";
    auto& status = pod.status.containerStatuses->emplace_back();
    status.name = "main";
    status.allocatedResources["cpu"] = quantity(allocated);
    status.resources.emplace().requests["cpu"] = quantity(actual);
    return pod;
}

void put_off_resize(api::Pod& pod, const std::string& reason) {
    auto& condition = pod.status.conditions->emplace_back();
    condition.type = "PodResizePending";
    condition.status = api::ConditionStatus::True;
    condition.reason = reason;
}

api::Container container(const std::string& cpu, const std::string& restart_policy = "") {
    api::Container container;
    container.resources.requests["cpu"] = quantity(cpu);
    container.restartPolicy = restart_policy;
    return container;
}

}  // namespace

TEST_CASE("a pod requests the sum of its containers, and one pod") {
    auto pod = PodBuilder("a", "250m", "100Mi").pod;
    pod.spec.containers->push_back(container("1"));
    const auto amounts = requests(pod);
    CHECK(amounts.base[kCpu] == 1250);
    CHECK(amounts.base[kMemory] == 100 * kMiB);
    CHECK(amounts.base[kPods] == 1);
}

TEST_CASE("an init container counts only as far as it needs more than what runs later") {
    auto pod = PodBuilder("a", "1").pod;
    pod.spec.initContainers = {container("700m")};
    CHECK(requests(pod).base[kCpu] == 1000);
    pod.spec.initContainers = {container("700m"), container("3")};
    CHECK(requests(pod).base[kCpu] == 3000);
}

TEST_CASE("sidecars run beside everything that starts after them") {
    auto pod = PodBuilder("a", "1").pod;
    pod.spec.initContainers = {container("500m", "Always"), container("2"), container("100m", "Always")};
    CHECK(requests(pod).base[kCpu] == 2500);
    pod.spec.initContainers = {container("2"), container("500m", "Always")};
    CHECK(requests(pod).base[kCpu] == 2000);
}

TEST_CASE("resources of the whole pod win over those of its containers, and overhead is added") {
    auto pod = PodBuilder("a", "1", "1Gi").pod;
    pod.spec.resources.emplace().requests["cpu"] = quantity("3");
    pod.spec.overhead = {{"cpu", quantity("250m")}, {"memory", quantity("64Mi")}};
    const auto amounts = requests(pod);
    CHECK(amounts.base[kCpu] == 3250);
    CHECK(amounts.base[kMemory] == (1024 + 64) * kMiB);
}

TEST_CASE("extended resources are counted by name") {
    scheduling::ResourceNames names;
    auto pod = PodBuilder("a").requests({{"example.com/gpu", "2"}, {"example.com/fpga", "1"}}).pod;
    pod.spec.containers->push_back(pod.spec.containers->at(0));
    const auto amounts = scheduling::requests_of(pod.spec, names);
    CHECK(amounts.extra_amount(names.number_of("example.com/gpu")) == 4);
    CHECK(amounts.extra_amount(names.number_of("example.com/fpga")) == 2);
    CHECK(amounts.extra_amount(names.number_of("example.com/other")) == 0);
}

TEST_CASE("what is not requested is not looked at, even on an overcommitted node") {
    scheduling::Amounts free;
    free.base = {-100, 5 * kMiB, 0, 1};
    scheduling::Amounts wanted;
    wanted.base = {0, kMiB, 0, 1};
    CHECK(scheduling::fits(wanted, free));
    wanted.base[kCpu] = 1;
    CHECK_FALSE(scheduling::fits(wanted, free));
    wanted.base[kCpu] = 0;
    free.base[kPods] = 0;
    CHECK_FALSE(scheduling::fits(wanted, free));
}

TEST_CASE("while a pod is resized in place it takes the largest of what is wanted, granted and in use") {
    CHECK(taken(running("1", "1", "1")).base[kCpu] == 1000);
    CHECK(taken(running("3", "1", "1")).base[kCpu] == 3000);  // the increase is not granted yet
    CHECK(taken(running("1", "2", "3")).base[kCpu] == 3000);  // the decrease is not done yet
    CHECK(taken(running("1", "2", "1")).base[kCpu] == 2000);
    const auto pod = running("1", "2", "3");
    CHECK(taken(pod).base[kMemory] == 1024 * kMiB);
    CHECK(taken(pod).base[kPods] == 1);
    CHECK(requests(pod).base[kCpu] == 1000);  // another node only has to offer this
}

TEST_CASE("a resize that its node can never grant takes nothing, one that has to wait does") {
    auto pod = running("30", "2", "1");
    put_off_resize(pod, "Deferred");
    CHECK(taken(pod).base[kCpu] == 30'000);
    pod.status.conditions.reset();
    put_off_resize(pod, "Infeasible");
    CHECK(taken(pod).base[kCpu] == 2000);
}

TEST_CASE("sidecars are resized like containers, other init containers are not") {
    auto pod = running("1", "1", "1");
    pod.spec.initContainers = {container("100m", "Always"), container("200m")};
    pod.spec.initContainers->at(0).name = "sidecar";
    pod.spec.initContainers->at(1).name = "setup";
    for (const auto* name : {"sidecar", "setup"}) {
        auto& status = pod.status.initContainerStatuses->emplace_back();
        status.name = name;
        status.allocatedResources["cpu"] = quantity("4");
        status.resources.emplace().requests["cpu"] = quantity("4");
    }
    CHECK(taken(pod).base[kCpu] == 5000);
    pod.status.initContainerStatuses->erase(pod.status.initContainerStatuses.begin());
    CHECK(taken(pod).base[kCpu] == 1100);
}

TEST_CASE("a container without a report yet takes what it wants") {
    auto pod = running("2", "4", "4");
    pod.status.containerStatuses->at(0).resources.reset();
    CHECK(taken(pod).base[kCpu] == 2000);
    pod.status.containerStatuses->at(0).name = "other";
    CHECK(taken(pod).base[kCpu] == 2000);
}

TEST_CASE("resources of a whole pod are resized in place as well, as far as they are stated") {
    auto pod = running("1", "1", "1");
    pod.spec.resources.emplace().requests["cpu"] = quantity("3");
    CHECK(taken(pod).base[kCpu] == 3000);
    pod.status.resources.emplace().requests = {{"cpu", quantity("4")}, {"memory", quantity("9Gi")}};
    pod.status.allocatedResources = {{"cpu", quantity("5")}, {"memory", quantity("9Gi")}};
    CHECK(taken(pod).base[kCpu] == 5000);
    CHECK(taken(pod).base[kMemory] == 1024 * kMiB);  // only the container states memory, not the pod
    pod.spec.resources->requests["cpu"] = quantity("30");
    CHECK(taken(pod).base[kCpu] == 30'000);
    put_off_resize(pod, "Infeasible");
    CHECK(taken(pod).base[kCpu] == 5000);
}

TEST_CASE("room that a running pod was granted beyond its spec is not given to others") {
    auto cluster = snapshot();
    cluster.nodes = {node("a", "4")};
    cluster.nodes[0].pods = {std::make_shared<api::Pod>(running("1", "3", "3"))};
    cluster.pods = {PodBuilder("new", "2")};
    const auto result = scheduling::solve(cluster);
    CHECK(result.claims.size() == 1);
}

TEST_CASE("a DaemonSet's pods get what the API server fills in: requests from limits, ports of the host") {
    api::PodSpec pod;
    pod.hostNetwork = true;
    pod.containers = {container("100m"), api::Container()};
    pod.containers->at(0).resources.limits = {{"cpu", quantity("2")}, {"memory", quantity("1Gi")}};
    pod.containers->at(1).resources.limits = {{"cpu", quantity("3")}};
    pod.containers->at(1).ports = {{9100, 0, "", "TCP"}, {9101, 9200, "", "TCP"}};
    scheduling::set_pod_defaults(pod);
    scheduling::ResourceNames names;
    const auto amounts = scheduling::requests_of(pod, names);
    CHECK(amounts.base[kCpu] == 3100);
    CHECK(amounts.base[kMemory] == 1024 * kMiB);
    CHECK(pod.containers->at(1).ports[0].hostPort == 9100);
    CHECK(pod.containers->at(1).ports[1].hostPort == 9200);
}

TEST_CASE("what is only limited for a whole pod is requested as its containers do, else as it is limited") {
    api::PodSpec pod;
    pod.containers = {container("100m")};
    pod.resources.emplace().limits = {{"cpu", quantity("2")}, {"memory", quantity("1Gi")}};
    scheduling::set_pod_defaults(pod);
    scheduling::ResourceNames names;
    const auto amounts = scheduling::requests_of(pod, names);
    CHECK(amounts.base[kCpu] == 100);
    CHECK(amounts.base[kMemory] == 1024 * kMiB);
}

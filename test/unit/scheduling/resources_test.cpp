#include "scheduling/amounts.hpp"

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

api::Container container(const std::string& cpu, const std::string& restart_policy = "") {
    api::Container container;
    container.resources.requests["cpu"] = quantity(cpu);
    container.restartPolicy = restart_policy;
    return container;
}

}  // namespace

TEST_CASE("a pod requests the sum of its containers, and one pod") {
    auto pod = PodBuilder("a", "250m", "100Mi").pod;
    pod.spec.containers.push_back(container("1"));
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
    pod.spec.containers.push_back(pod.spec.containers[0]);
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

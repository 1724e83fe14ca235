#include "api/shared.hpp"

#include "api/core.hpp"
#include "api/shared_parts.hpp"
#include "test/support/catch.hpp"

namespace {

api::Pod pod_of(const std::string& workload, const std::string& name) {
    api::Pod pod;
    pod.metadata.name = name;
    pod.metadata.labels["app"] = workload;
    auto& container = pod.spec.containers->emplace_back();
    container.name = workload;
    container.resources.requests["cpu"] = api::Quantity::parse("250m");
    return pod;
}

}  // namespace

TEST_CASE("a copy shares its value until one of the two changes it") {
    api::Shared<api::StringMap> labels{{"app", "web"}};
    const auto copy = labels;
    CHECK(copy.pointer() == labels.pointer());
    labels["tier"] = "front";
    CHECK(copy == api::StringMap{{"app", "web"}});
    CHECK(labels == api::StringMap{{"app", "web"}, {"tier", "front"}});
}

TEST_CASE("reading does not part what is shared") {
    const api::Pod one = pod_of("web", "a");
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the copy is what is tested.
    const api::Pod other = one;
    for (const auto& container : other.spec.containers) CHECK(container.name == "web");
    CHECK(api::find(other.metadata.labels, "app"));
    CHECK(other.spec.containers->at(0).resources.requests.contains("cpu"));
    CHECK(one.spec.containers.pointer() == other.spec.containers.pointer());
}

TEST_CASE("no value reads as a default one, and an empty container is no value") {
    const api::PodSpec spec;
    CHECK_FALSE(spec.affinity.has_value());
    CHECK_FALSE(spec.affinity->podAffinity);
    CHECK(spec.tolerations.empty());
    api::Shared<api::StringMap> labels;
    labels["app"] = "web";
    labels->erase("app");
    CHECK_FALSE(labels.has_value());
    CHECK(labels == api::Shared<api::StringMap>());
    CHECK(api::encode(api::ObjectMeta{.name = "a", .labels = labels}) ==
          api::encode(api::ObjectMeta{.name = "a"}));
}

TEST_CASE("an affinity that is empty is not the same as none") {
    api::PodSpec with;
    with.affinity.emplace();
    CHECK(with.affinity.has_value());
    CHECK_FALSE(with == api::PodSpec());
}

TEST_CASE("pods of a workload have one copy of what they have in common") {
    api::SharedParts parts;
    auto first = pod_of("web", "a");
    auto second = pod_of("web", "b");
    auto third = pod_of("cart", "c");
    const auto before = second;
    for (auto* pod : {&first, &second, &third}) parts.share(*pod);
    CHECK(second == before);
    CHECK(first.spec.containers.pointer() == second.spec.containers.pointer());
    CHECK(first.metadata.labels.pointer() == second.metadata.labels.pointer());
    CHECK(first.spec.containers.pointer() != third.spec.containers.pointer());
    CHECK(parts.size() == 4);
}

TEST_CASE("a change to one pod leaves the others as they are") {
    api::SharedParts parts;
    auto first = pod_of("web", "a");
    auto second = pod_of("web", "b");
    parts.share(first);
    parts.share(second);
    first.spec.containers->at(0).resources.requests["cpu"] = api::Quantity::parse("1");
    CHECK(second.spec.containers->at(0).resources.requests.at("cpu") == api::Quantity::parse("250m"));
    auto third = pod_of("web", "c");
    parts.share(third);
    CHECK(third == pod_of("web", "c"));
}

TEST_CASE("parts differ in any one member") {
    api::SharedParts parts;
    auto plain = pod_of("web", "a");
    auto other = pod_of("web", "b");
    auto& container = other.spec.containers->at(0);
    SECTION("amount") {
        container.resources.requests["cpu"] = api::Quantity::parse("251m");
    }
    SECTION("key") {
        container.resources.requests["memory"] = api::Quantity::parse("1Gi");
    }
    SECTION("text") {
        container.restartPolicy = "Always";
    }
    SECTION("number") {
        container.ports.emplace_back().hostPort = 80;
    }
    SECTION("enumerator") {
        plain.spec.tolerations->emplace_back().key = "a";
        auto& toleration = other.spec.tolerations->emplace_back();
        toleration.key = "a";
        toleration.operator_ = api::TolerationOperator::Exists;
    }
    const auto before = other;
    parts.share(plain);
    parts.share(other);
    CHECK(other == before);
}

TEST_CASE("parts that no object has any more are forgotten") {
    api::SharedParts parts;
    std::vector<api::Pod> living;
    for (int number = 0; number < 10'000; ++number) {
        auto pod = pod_of("workload-" + std::to_string(number), "a");
        parts.share(pod);
        living.assign(1, pod);
    }
    CHECK(parts.size() <= 1'002);
}

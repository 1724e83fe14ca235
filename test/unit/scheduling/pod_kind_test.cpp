#include "scheduling/pods/pod_kind.hpp"

#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using builders::PodBuilder;

namespace {

std::string kind(const PodBuilder& pod) {
    return scheduling::kind_of(pod.pod, [](const std::string& claim) { return claim; });
}

}  // namespace

TEST_CASE("pods that controllers make from one template are of one kind, in every process") {
    const auto replica = [](const std::string& name, const std::string& hash) {
        return PodBuilder(name)
            .label("app", "web")
            .label("pod-template-hash", hash)
            .owner("ReplicaSet", "rs-" + hash);
    };
    const auto first = kind(replica("web-a", "111"));
    CHECK(first == kind(replica("web-b", "222")));
    CHECK(first.size() == 16);
    CHECK(first == kind(replica("web-c", "111").label("batch.kubernetes.io/job-completion-index", "3")));
    CHECK(kind(PodBuilder("p")) == "22fdfd2704d2e903");
}

TEST_CASE("what decides where a pod can be tells kinds apart") {
    const auto plain = kind(PodBuilder("p"));
    CHECK(kind(PodBuilder("p", "2")) != plain);
    CHECK(kind(PodBuilder("p").label("app", "web")) != plain);
    CHECK(kind(PodBuilder("p").select("disk", "ssd")) != plain);
    CHECK(kind(PodBuilder("p").tolerate("gpu")) != plain);
    CHECK(kind(PodBuilder("p").require({builders::in("disk", {"ssd"})})) != plain);
    CHECK(kind(PodBuilder("p").requests({{"example.com/gpu", "1"}})) != plain);
    auto elsewhere = PodBuilder("p");
    elsewhere.pod.metadata.namespace_ = "other";
    CHECK(kind(elsewhere) != plain);
    auto with_port = PodBuilder("p");
    with_port.pod.spec.containers->at(0).ports.emplace_back().hostPort = 80;
    CHECK(kind(with_port) != plain);
    auto with_volume = PodBuilder("p");
    with_volume.pod.spec.volumes->emplace_back().persistentVolumeClaim.emplace().claimName = "data";
    CHECK(kind(with_volume) != plain);
}

TEST_CASE("of a pod's volumes counts what is said of their claims") {
    auto first = PodBuilder("db-0");
    first.pod.spec.volumes->emplace_back().persistentVolumeClaim.emplace().claimName = "data-db-0";
    auto second = PodBuilder("db-1");
    second.pod.spec.volumes->emplace_back().persistentVolumeClaim.emplace().claimName = "data-db-1";
    CHECK(kind(first) != kind(second));
    const auto alike = [](const std::string&) { return std::string("class fast 10Gi"); };
    CHECK(scheduling::kind_of(first.pod, alike) == scheduling::kind_of(second.pod, alike));
}

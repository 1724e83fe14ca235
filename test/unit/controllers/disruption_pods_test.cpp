// What pods say against the disruption of their node.
#include "controllers/disruption/rules/pods.hpp"

#include "controllers/services/drain.hpp"

#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

using namespace controllers;
using namespace controllers::disruption;
using namespace std::chrono_literals;

namespace {

api::Pod web(const std::string& owner = "ReplicaSet") {
    api::Pod pod;
    pod.metadata.namespace_ = "default";
    pod.metadata.name = "web";
    pod.metadata.labels = {{"app", "web"}};
    pod.status.phase = api::PodPhase::Running;
    pod.status.startTime = objects::kStart;
    auto& container = pod.spec.containers->emplace_back();
    container.resources.requests = {{"cpu", api::Quantity::parse("500m")},
                                    {"memory", api::Quantity::parse("1Gi")}};
    if (!owner.empty()) {
        auto& reference = pod.metadata.ownerReferences->emplace_back();
        reference.kind = owner;
        reference.controller = true;
    }
    return pod;
}

PodPointers one(const api::Pod& pod) {
    return {std::make_shared<const api::Pod>(pod)};
}

std::string reason(const api::Pod& pod, Kind kind = Kind::Underutilized, const BudgetPointers& budgets = {},
                   std::chrono::seconds now = 1h, bool has_deadline = false) {
    const PodRules rules{kind, budgets, has_deadline};
    const auto found = pod_blocker(one(pod), rules, objects::at(now));
    return found ? found->reason : "";
}

std::shared_ptr<const api::PodDisruptionBudget> budget(std::int32_t allowed) {
    api::PodDisruptionBudget result;
    result.metadata.namespace_ = "default";
    result.metadata.name = "web";
    result.spec.selector.emplace().matchLabels = {{"app", "web"}};
    result.status.disruptionsAllowed = allowed;
    result.status.expectedPods = result.status.desiredHealthy = 2;
    return std::make_shared<const api::PodDisruptionBudget>(result);
}

}  // namespace

TEST_CASE("an ordinary pod may be asked to leave") {
    CHECK(reason(web()).empty());
}

TEST_CASE("annotations keep a pod's node: always, or for a time from the pod's start") {
    auto pod = web();
    pod.metadata.annotations["kubenodesmith.io/do-not-disrupt"] = "2h";
    CHECK(reason(pod, Kind::Drifted, {}, 7199s) == "DoNotDisrupt");
    CHECK(reason(pod, Kind::Drifted, {}, 7200s).empty());
    pod.metadata.annotations = {{"cluster-autoscaler.kubernetes.io/safe-to-evict", "false"}};
    CHECK(reason(pod, Kind::Evacuation) == "DoNotDisrupt");
}

TEST_CASE("a pod that nobody would bring back keeps its node, unless it is said to be safe") {
    auto pod = web("");
    CHECK(reason(pod) == "BarePod");
    CHECK(reason(pod, Kind::Expired) == "BarePod");
    pod.metadata.annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = "true";
    CHECK(reason(pod).empty());
}

TEST_CASE("local data keeps a node that would only be saved, not one that has to be replaced") {
    auto pod = web();
    auto& volume = pod.spec.volumes->emplace_back();
    volume.emptyDir.emplace();
    CHECK(reason(pod) == "LocalStorage");
    CHECK(reason(pod, Kind::Drifted).empty());
    volume.emptyDir->medium = "Memory";
    CHECK(reason(pod).empty());
    volume.hostPath.emplace();
    CHECK(reason(pod) == "LocalStorage");
}

TEST_CASE("a budget without slack keeps a node") {
    CHECK(reason(web(), Kind::Underutilized, {budget(1)}).empty());
    CHECK(reason(web(), Kind::Underutilized, {budget(0)}) == "PodDisruptionBudget");
    CHECK(reason(web(), Kind::Underutilized, {budget(1), budget(1)}) == "PodDisruptionBudget");
    const auto budgets = BudgetPointers{budget(0)};
    const PodRules strict{Kind::Drifted, budgets};
    CHECK(pod_blocker(one(web()), strict, objects::at(1h))->message.find("can never allow") !=
          std::string::npos);
}

TEST_CASE("pods that get a place only after all have left need a budget that lets all go at once") {
    auto second = web();
    second.metadata.name = "web-2";
    PodPointers pods = one(web());
    pods.push_back(std::make_shared<const api::Pod>(second));
    const auto found = [&](std::int32_t allowed, bool all_at_once) {
        const auto budgets = BudgetPointers{budget(allowed)};
        return pod_blocker(pods, {Kind::Drifted, budgets, false, all_at_once}, objects::at(1h));
    };
    CHECK_FALSE(found(1, false));
    CHECK_FALSE(found(2, true));
    REQUIRE(found(1, true));
    CHECK(found(1, true)->reason == "PodDisruptionBudget");
    CHECK(found(1, true)->message.find("only 1 of its 2 pods") != std::string::npos);
}

TEST_CASE("a drain that the pods' own grace periods would outlast is not begun") {
    const BudgetPointers none;
    auto slow = web();
    slow.spec.terminationGracePeriodSeconds = 50;
    const auto found = [&](const api::Pod& pod, std::optional<api::Duration> given_up_after, Kind kind) {
        PodRules rules{kind, none};
        rules.given_up_after = given_up_after;
        return pod_blocker(one(pod), rules, objects::at(1h));
    };
    REQUIRE(found(slow, api::Duration(20s), Kind::Drifted));
    CHECK(found(slow, api::Duration(20s), Kind::Drifted)->reason == "DrainWouldTimeOut");
    const auto message = found(slow, api::Duration(20s), Kind::Underutilized)->message;
    CHECK(message.find(slow.metadata.name + " (50s)") != std::string::npos);
    CHECK(message.find("raise scaleDown.drainTimeout above 50s") != std::string::npos);
    CHECK_FALSE(found(slow, api::Duration(50s), Kind::Drifted));
    CHECK_FALSE(found(slow, std::nullopt, Kind::Drifted));  // with Force its user wishes it so
    CHECK_FALSE(found(slow, api::Duration(20s), Kind::Unhealthy));
    auto ending = slow;
    ending.metadata.deletionTimestamp = objects::kStart;
    CHECK_FALSE(found(ending, api::Duration(20s), Kind::Drifted));
}

TEST_CASE("critical pods end after the others") {
    auto slow = web();
    slow.spec.terminationGracePeriodSeconds = 50;
    auto critical = web();
    critical.metadata.name = "proxy";
    critical.spec.priority = 2'000'000'000;
    critical.spec.terminationGracePeriodSeconds = 20;
    const PodPointers pods{std::make_shared<const api::Pod>(slow), std::make_shared<const api::Pod>(critical),
                           std::make_shared<const api::Pod>(web("DaemonSet"))};
    const auto end = controllers::longest_end(pods);
    CHECK(end.duration == 70s);
    CHECK(end.pods ==
          api::key_of(slow).str() + " (50s), and after it " + api::key_of(critical).str() + " (20s)");
    CHECK(controllers::longest_end({}).pods.empty());
}

TEST_CASE("with a deadline that the user set, what must go is not kept") {
    auto pod = web("");
    CHECK(reason(pod, Kind::Expired, {}, 1h, true).empty());
    CHECK(reason(pod, Kind::Underutilized, {}, 1h, true) == "BarePod");
}

TEST_CASE("pods that do not move do not count") {
    CHECK(reason(web("DaemonSet")).empty());
    auto done = web("");
    done.status.phase = api::PodPhase::Succeeded;
    CHECK(reason(done).empty());
    auto ending = web("");
    ending.metadata.deletionTimestamp = objects::kStart;
    CHECK(reason(ending).empty());
}

TEST_CASE("how much of a node is in use is the larger share, without pods of DaemonSets") {
    const auto node = objects::node("a", true, "2", "4Gi");
    auto large = web();
    large.spec.containers->at(0).resources.requests["memory"] = api::Quantity::parse("3Gi");
    const PodPointers pods{std::make_shared<const api::Pod>(large),
                           std::make_shared<const api::Pod>(web("DaemonSet"))};
    CHECK(utilization_percent(use_of(node, pods)) == 75);
    CHECK(utilization_percent(use_of(node, {})) == 0);
}

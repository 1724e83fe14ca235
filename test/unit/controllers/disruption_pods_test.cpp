// Tests how pods can prevent the disruption of their node.
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
    volume.hostPath.emplace();
    CHECK(reason(pod) == "LocalStorage");
    CHECK(reason(pod, Kind::Drifted).empty());
    pod.metadata.annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = "true";
    CHECK(reason(pod).empty());
}

TEST_CASE("an emptyDir keeps a node if its pool says so, unless it is in memory or small") {
    auto pod = web();
    auto& source = pod.spec.volumes->emplace_back().emptyDir.emplace();
    const auto reason_with = [&pod](api::v1alpha1::EmptyDirPolicy policy, Kind kind = Kind::Underutilized) {
        const BudgetPointers none;
        PodRules rules{kind, none};
        rules.empty_dir = policy;
        const auto found = pod_blocker(one(pod), rules, objects::at(1h));
        return found ? found->reason : "";
    };
    using Policy = api::v1alpha1::EmptyDirPolicy;
    CHECK(reason_with(Policy::Evict).empty());
    CHECK(reason_with(Policy::Keep) == "LocalStorage");
    CHECK(reason_with(Policy::Unrecognized) == "LocalStorage");
    CHECK(reason_with(Policy::Keep, Kind::Drifted).empty());
    source.sizeLimit = api::Quantity::parse("100Mi");
    CHECK(reason_with(Policy::Keep).empty());
    source.sizeLimit = api::Quantity::parse("101Mi");
    CHECK(reason_with(Policy::Keep) == "LocalStorage");
    source.sizeLimit = api::Quantity::parse("0");  // no limit
    CHECK(reason_with(Policy::Keep) == "LocalStorage");
    source.medium = "Memory";
    CHECK(reason_with(Policy::Keep).empty());
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

namespace {

api::Pod web_that_is(bool ready) {
    auto pod = web();
    api::set_condition(
        *pod.status.conditions,
        {"Ready", ready ? api::ConditionStatus::True : api::ConditionStatus::False, "", "", std::nullopt},
        objects::kStart);
    return pod;
}

std::string obstacle(const api::Pod& pod, std::int32_t healthy, std::int32_t desired,
                     const std::string& policy = "") {
    auto made = *budget(0);
    made.spec.unhealthyPodEvictionPolicy = policy;
    made.status.currentHealthy = healthy;
    made.status.desiredHealthy = desired;
    made.status.expectedPods = 3;
    const BudgetPointers budgets{std::make_shared<const api::PodDisruptionBudget>(made)};
    const auto found = pod_blocker(one(pod), {Kind::Drifted, budgets}, objects::at(1h));
    return found ? found->message : "";
}

}  // namespace

TEST_CASE("a pod that is not Ready goes where its budget lets it go, as the eviction API judges") {
    const auto ready = web_that_is(true);
    const auto unready = web_that_is(false);
    CHECK(obstacle(unready, 0, 3, "AlwaysAllow").empty());
    CHECK(obstacle(web(), 0, 3, "AlwaysAllow").empty());
    CHECK(obstacle(unready, 2, 2).empty());
    CHECK(obstacle(unready, 2, 2, "IfHealthyBudget").empty());
    CHECK_FALSE(obstacle(unready, 1, 2).empty());
    CHECK_FALSE(obstacle(unready, 0, 0).empty());  // the API evicts it only if at least one healthy pod is
                                                   // required
    CHECK_FALSE(obstacle(unready, 1, 2, "OfAFutureKubernetes").empty());
    CHECK_FALSE(obstacle(ready, 3, 3, "AlwaysAllow").empty());
    CHECK_FALSE(obstacle(ready, 2, 2).empty());
}

TEST_CASE("who is kept though it is not Ready is told how it may go") {
    const auto message = obstacle(web_that_is(false), 1, 2);
    CHECK(message.find("can never allow") == std::string::npos);
    CHECK(message.find("can be evicted if the budget's unhealthyPodEvictionPolicy is AlwaysAllow or 2 pods "
                       "are healthy (1 are)") != std::string::npos);
}

TEST_CASE("pods that do not run yet go whatever their budgets say") {
    auto pending = web();
    pending.status.phase = api::PodPhase::Pending;
    CHECK(reason(pending, Kind::Underutilized, {budget(0)}).empty());
    CHECK(reason(pending, Kind::Underutilized, {budget(0), budget(0)}).empty());
    pending.status.phase = api::PodPhase::Unknown;
    CHECK(reason(pending, Kind::Underutilized, {budget(0)}) == "PodDisruptionBudget");
}

TEST_CASE("a pod with two budgets keeps its node, and both are named with what to do") {
    auto pod = web_that_is(false);
    auto other = *budget(1);
    other.metadata.name = "other";
    const BudgetPointers budgets{budget(1), std::make_shared<const api::PodDisruptionBudget>(other)};
    const auto found = pod_blocker(one(pod), {Kind::Drifted, budgets}, objects::at(1h));
    REQUIRE(found);
    CHECK(found->message.find("(default/web, default/other), which the eviction API refuses; delete all but "
                              "one of them") != std::string::npos);
}

TEST_CASE("pods that use up nothing of a budget may all go at once") {
    auto lenient = *budget(1);
    lenient.spec.unhealthyPodEvictionPolicy = "AlwaysAllow";
    const BudgetPointers budgets{std::make_shared<const api::PodDisruptionBudget>(lenient)};
    auto pending = web();
    pending.status.phase = api::PodPhase::Pending;
    const auto found = [&](const std::vector<api::Pod>& pods) {
        PodPointers pointers;
        for (const auto& pod : pods) pointers.push_back(std::make_shared<const api::Pod>(pod));
        return pod_blocker(pointers, {Kind::Drifted, budgets, false, true}, objects::at(1h)).has_value();
    };
    CHECK_FALSE(found({web_that_is(true), web_that_is(false), web_that_is(false), pending}));
    CHECK(found({web_that_is(true), web_that_is(true)}));
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
    CHECK_FALSE(found(slow, std::nullopt, Kind::Drifted));  // with Force, the user accepts it
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

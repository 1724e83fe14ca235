// Tests how pods end: gracefully, by eviction, within budgets.
#include "test/simulation/contract/kubernetes/objects.hpp"
#include "test/support/catch.hpp"

using namespace contract;

namespace {

bool is_ending(const std::string& name) {
    return !server().call("GET", kPods + "/" + name).text("metadata", "deletionTimestamp").empty();
}

bool is_refused_by_budget(const Answer& answer) {
    const auto* details = answer.body.if_contains("details");
    return answer.status == 429 && answer.text("reason") == "TooManyRequests" && details &&
           details->at("causes").at(0).at("reason") == "DisruptionBudget";
}

json::object precondition(const std::string& uid) {
    return {{"preconditions", {{"uid", uid}}}};
}

}  // namespace

TEST_CASE("a pod begins as pending, whatever status it comes with") {
    auto name = server().fresh("begin");
    auto body = pod(name);
    body["status"] = {{"phase", "Running"}};
    auto created = server().call("POST", kPods, body);
    CHECK(created.text("status", "phase") == "Pending");
    end_pod(name);
}

TEST_CASE("a running pod ends gracefully, and at once when told so") {
    auto name = server().fresh("graceful");
    CHECK(running_pod(name).status == 200);
    auto deleted = server().call("DELETE", kPods + "/" + name);
    CHECK(deleted.status == 200);
    CHECK(deleted.text("metadata", "deletionGracePeriodSeconds") == "3600");
    auto since = server().call("GET", kPods + "/" + name).text("metadata", "deletionTimestamp");
    CHECK_FALSE(since.empty());
    // A second deletion may only shorten the grace period.
    json::object longer{{"gracePeriodSeconds", 7200}};
    CHECK(server().call("DELETE", kPods + "/" + name, longer).status == 200);
    CHECK(server().call("GET", kPods + "/" + name).text("metadata", "deletionTimestamp") == since);
    json::object shorter{{"gracePeriodSeconds", 600}};
    CHECK(server().call("DELETE", kPods + "/" + name, shorter).status == 200);
    auto ending = server().call("GET", kPods + "/" + name);
    CHECK(ending.text("metadata", "deletionGracePeriodSeconds") == "600");
    CHECK(ending.text("metadata", "deletionTimestamp") < since);
    end_pod(name);
    CHECK(server().call("GET", kPods + "/" + name).status == 404);
}

TEST_CASE("a pod that was never bound, or has ended, is gone at once") {
    auto name = server().fresh("unbound");
    auto body = pod(name);
    body["spec"].as_object().erase("nodeName");
    CHECK(server().call("POST", kPods, body).status == 201);
    CHECK(server().call("DELETE", kPods + "/" + name).status == 200);
    CHECK(server().call("GET", kPods + "/" + name).status == 404);

    auto ended = server().fresh("ended");
    running_pod(ended);
    json::object succeeded{{"status", {{"phase", "Succeeded"}}}};
    server().call("PATCH", kPods + "/" + ended + "/status", succeeded, kMergePatch);
    CHECK(server().call("DELETE", kPods + "/" + ended).status == 200);
    CHECK(server().call("GET", kPods + "/" + ended).status == 404);
}

TEST_CASE("an eviction without a budget starts a graceful end, marks the pod, and may be repeated") {
    auto name = server().fresh("free");
    auto uid = running_pod(name).text("metadata", "uid");
    CHECK(evict(name, precondition(kOtherUid)).status == 409);
    CHECK_FALSE(is_ending(name));
    auto options = precondition(uid);
    options["gracePeriodSeconds"] = 1800;
    auto evicted = evict(name, options);
    CHECK(evicted.status == 201);
    CHECK(evicted.text("status") == "Success");
    auto ending = server().call("GET", kPods + "/" + name);
    CHECK(ending.text("metadata", "deletionGracePeriodSeconds") == "1800");
    bool marked = false;
    for (const auto& condition : ending.body.at("status").at("conditions").as_array()) {
        marked |=
            condition.at("type") == "DisruptionTarget" && condition.at("reason") == "EvictionByEvictionAPI";
    }
    CHECK(marked);
    CHECK(evict(name, precondition(uid)).status == 201);
    end_pod(name);
    CHECK(evict(name).status == 404);
}

TEST_CASE("an eviction asks the budget, says which one refuses, and spends it") {
    auto name = server().fresh("evicted");
    running_pod(name);
    server().call("POST", kBudgets, budget(name, 1));
    REQUIRE(server().budget_allows(name, 0));
    auto refused = evict(name);
    CHECK(is_refused_by_budget(refused));
    CHECK(refused.text("message") == "Cannot evict pod as it would violate the pod's disruption budget.");
    CHECK(refused.text("code") == "429");
    CHECK(refused.body.at("details").at("causes").at(0).at("message").as_string().starts_with(
        "The disruption budget " + name + " needs "));
    CHECK_FALSE(is_ending(name));

    json::object relaxed{{"spec", {{"minAvailable", 0}}}};
    server().call("PATCH", kBudgets + "/" + name, relaxed, kMergePatch);
    REQUIRE(server().budget_allows(name, 1));
    CHECK(evict(name).status == 201);
    CHECK(is_ending(name));
    auto spent = server().call("GET", kBudgets + "/" + name);
    CHECK(spent.text("status", "disruptionsAllowed") == "0");
    end_pod(name);
}

TEST_CASE("an eviction of another pod of that name spends the budget nevertheless") {
    auto name = server().fresh("another");
    auto uid = running_pod(name).text("metadata", "uid");
    server().call("POST", kBudgets, budget(name, 0));
    REQUIRE(server().budget_allows(name, 1));
    CHECK(evict(name, precondition(kOtherUid)).status == 409);
    CHECK(is_refused_by_budget(evict(name, precondition(uid))));
    CHECK_FALSE(is_ending(name));
    end_pod(name);
}

TEST_CASE("a pod under two budgets cannot be evicted") {
    auto name = server().fresh("twice");
    running_pod(name);
    for (const auto* suffix : {"-a", "-b"}) {
        auto body = budget(name, 0);
        body["metadata"].as_object()["name"] = name + suffix;
        server().call("POST", kBudgets, body);
    }
    REQUIRE(server().budget_allows(name + "-a", 1));
    auto refused = evict(name);
    CHECK(refused.status == 500);
    CHECK(refused.text("reason").empty());
    CHECK(refused.text("message") ==
          "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
    CHECK_FALSE(is_ending(name));
    end_pod(name);
}

TEST_CASE("a budget does not hold pods that do not run or are ending anyway") {
    auto name = server().fresh("pending");
    server().call("POST", kPods, pod(name));
    server().call("POST", kBudgets, budget(name, 1));
    REQUIRE(server().budget_allows(name, 0));
    CHECK(evict(name).status == 201);
    CHECK(is_ending(name));
    CHECK(evict(name).status == 201);
    end_pod(name);
}

TEST_CASE("a pod that is not ready is evicted if the rest is healthy or its budget says always") {
    auto name = server().fresh("unready");
    running_pod(name, false);
    server().call("POST", kBudgets, budget(name, 1));
    REQUIRE(server().budget_allows(name, 0));
    CHECK(is_refused_by_budget(evict(name)));
    json::object always{{"spec", {{"unhealthyPodEvictionPolicy", "AlwaysAllow"}}}};
    server().call("PATCH", kBudgets + "/" + name, always, kMergePatch);
    REQUIRE(server().budget_allows(name, 0));
    CHECK(evict(name).status == 201);
    CHECK(is_ending(name));
    end_pod(name);
}

TEST_CASE("a pod that is not ready is evicted without spending the budget while enough others are ready") {
    auto name = server().fresh("some-ready");
    running_pod(name, true);
    auto other = pod(name + "-sick");
    other["metadata"].as_object()["labels"] = json::object{{"app", name}};
    server().call("POST", kPods, other);
    json::object condition{{"type", "Ready"}, {"status", "False"}};
    json::object status{{"phase", "Running"}, {"conditions", json::array{condition}}};
    server().call("PATCH", kPods + "/" + name + "-sick/status", json::object{{"status", status}},
                  kMergePatch);
    server().call("POST", kBudgets, budget(name, 1));
    REQUIRE(server().budget_allows(name, 0));
    CHECK(is_refused_by_budget(evict(name)));
    CHECK(evict(name + "-sick").status == 201);
    CHECK(is_ending(name + "-sick"));
    CHECK(server().call("GET", kBudgets + "/" + name).text("status", "disruptionsAllowed") == "0");
    end_pod(name + "-sick");
    end_pod(name);
}

TEST_CASE("a budget that needs no healthy pod lets none go that is not ready") {
    auto name = server().fresh("none-needed");
    running_pod(name, false);
    server().call("POST", kBudgets, budget(name, 0));
    REQUIRE(server().budget_allows(name, 0));
    CHECK(is_refused_by_budget(evict(name)));
    end_pod(name);
}

TEST_CASE("two budgets do not hold a pod that does not run yet") {
    auto name = server().fresh("twice-pending");
    server().call("POST", kPods, pod(name));
    for (const auto* suffix : {"-a", "-b"}) {
        auto body = budget(name, 1);
        body["metadata"].as_object()["name"] = name + suffix;
        server().call("POST", kBudgets, body);
    }
    REQUIRE(server().budget_allows(name + "-a", 0));
    CHECK(evict(name).status == 201);
    end_pod(name);
}

TEST_CASE("a budget holds a pod of which nobody knows whether it runs") {
    auto name = server().fresh("unknown");
    running_pod(name, true);
    json::object unknown{{"status", {{"phase", "Unknown"}}}};
    server().call("PATCH", kPods + "/" + name + "/status", unknown, kMergePatch);
    server().call("POST", kBudgets, budget(name, 1));
    REQUIRE(server().budget_allows(name, 0));
    CHECK(is_refused_by_budget(evict(name)));
    end_pod(name);
}

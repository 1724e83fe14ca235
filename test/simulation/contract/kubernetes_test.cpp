// What the simulation takes for granted of a Kubernetes API server: the same cases run against the one in
// memory and against a real one, so that the simulation cannot drift from reality.
#include <algorithm>

#include "test/simulation/contract/server.hpp"
#include "test/support/catch.hpp"

namespace {

namespace json = boost::json;
using contract::Answer;

constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kJson = "application/json-patch+json";
const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

contract::Server& server() {
    static const auto instance = contract::make_server();
    return *instance;
}

json::object config_map(const std::string& name, const std::string& value = "1") {
    return {{"metadata", {{"name", name}}}, {"data", {{"value", value}}}};
}

json::object pod(const std::string& name) {
    return {{"metadata", {{"name", name}, {"labels", {{"app", name}}}}},
            {"spec",
             {{"nodeName", "nowhere"},
              {"terminationGracePeriodSeconds", 3600},
              {"containers", {{{"name", "c"}, {"image", "example.invalid/c"}}}}}}};
}

// A pod that its node calls running and ready.
Answer running_pod(const std::string& name) {
    server().call("POST", kPods, pod(name));
    json::object ready{
        {"status", {{"phase", "Running"}, {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
    return server().call("PATCH", kPods + "/" + name + "/status", ready, kMerge);
}

json::object eviction_of(const std::string& name, const std::string& uid = "") {
    json::object options{{"gracePeriodSeconds", 3600}};
    if (!uid.empty()) options["preconditions"] = {{"uid", uid}};
    return {{"apiVersion", "policy/v1"},
            {"kind", "Eviction"},
            {"metadata", {{"name", name}}},
            {"deleteOptions", options}};
}

json::object budget_of(const std::string& name, int min_available) {
    return {{"metadata", {{"name", name}}},
            {"spec", {{"minAvailable", min_available}, {"selector", {{"matchLabels", {{"app", name}}}}}}}};
}

std::vector<std::string> names_of(const Answer& list) {
    std::vector<std::string> names;
    for (const auto& item : list.body.at("items").as_array()) {
        names.emplace_back(item.at("metadata").at("name").as_string());
    }
    std::ranges::sort(names);
    return names;
}

}  // namespace

TEST_CASE("an object is created once, read back, and deleted once") {
    auto name = server().fresh("life");
    CHECK(server().call("GET", kConfigMaps + "/" + name).status == 404);
    auto created = server().call("POST", kConfigMaps, config_map(name));
    CHECK(created.status == 201);
    CHECK_FALSE(created.text("metadata", "uid").empty());
    CHECK_FALSE(created.text("metadata", "resourceVersion").empty());
    CHECK_FALSE(created.text("metadata", "creationTimestamp").empty());
    auto again = server().call("POST", kConfigMaps, config_map(name));
    CHECK(again.status == 409);
    CHECK(again.text("reason") == "AlreadyExists");
    CHECK(server().call("GET", kConfigMaps + "/" + name).text("metadata", "uid") ==
          created.text("metadata", "uid"));
    CHECK(server().call("DELETE", kConfigMaps + "/" + name).status == 200);
    auto gone = server().call("DELETE", kConfigMaps + "/" + name);
    CHECK(gone.status == 404);
    CHECK(gone.text("reason") == "NotFound");
}

TEST_CASE("a name is generated, and one is required") {
    json::object generated{{"metadata", {{"generateName", "generated-"}}}};
    auto first = server().call("POST", kConfigMaps, generated);
    auto second = server().call("POST", kConfigMaps, generated);
    CHECK(first.status == 201);
    CHECK(first.text("metadata", "name").starts_with("generated-"));
    CHECK(first.text("metadata", "name") != second.text("metadata", "name"));
    auto nameless = server().call("POST", kConfigMaps, json::object{{"metadata", json::object{}}});
    CHECK(nameless.status == 422);
    CHECK(nameless.text("reason") == "Invalid");
}

TEST_CASE("a merge patch sets and removes what it names and keeps the rest") {
    auto name = server().fresh("merge");
    auto body = config_map(name);
    body["data"] = {{"a", "1"}, {"b", "2"}};
    server().call("POST", kConfigMaps, body);
    json::object change{{"data", {{"a", nullptr}, {"c", "3"}}}};
    auto patched = server().call("PATCH", kConfigMaps + "/" + name, change, kMerge);
    CHECK(patched.status == 200);
    CHECK(patched.body.at("data") == json::value{{"b", "2"}, {"c", "3"}});
    CHECK(server().call("PATCH", kConfigMaps + "/" + server().fresh("absent"), change, kMerge).status == 404);
    CHECK(server().call("PATCH", kConfigMaps + "/" + name, change, "application/x-unknown").status == 415);
}

TEST_CASE("a patch that changes nothing writes nothing") {
    auto name = server().fresh("same");
    auto created = server().call("POST", kConfigMaps, config_map(name));
    auto patched = server().call("PATCH", kConfigMaps + "/" + name, config_map(name), kMerge);
    CHECK(patched.status == 200);
    CHECK(patched.text("metadata", "resourceVersion") == created.text("metadata", "resourceVersion"));
}

TEST_CASE("a patch with an outdated resourceVersion or another UID conflicts") {
    auto name = server().fresh("conflict");
    auto created = server().call("POST", kConfigMaps, config_map(name));
    auto locked = [&](const std::string& value) {
        return json::object{{"metadata", {{"resourceVersion", created.text("metadata", "resourceVersion")}}},
                            {"data", {{"value", value}}}};
    };
    CHECK(server().call("PATCH", kConfigMaps + "/" + name, locked("2"), kMerge).status == 200);
    auto stale = server().call("PATCH", kConfigMaps + "/" + name, locked("3"), kMerge);
    CHECK(stale.status == 409);
    CHECK(stale.text("reason") == "Conflict");
    json::object other{{"metadata", {{"uid", "00000000-0000-0000-0000-00000000ffff"}}},
                       {"data", {{"value", "4"}}}};
    CHECK(server().call("PATCH", kConfigMaps + "/" + name, other, kMerge).status == 409);
}

TEST_CASE("a JSON patch with a failing test is refused as a whole") {
    auto name = server().fresh("test");
    server().call("POST", kConfigMaps, config_map(name));
    json::array good{{{"op", "test"}, {"path", "/data/value"}, {"value", "1"}},
                     {{"op", "replace"}, {"path", "/data/value"}, {"value", "2"}}};
    CHECK(server().call("PATCH", kConfigMaps + "/" + name, good, kJson).status == 200);
    auto refused = server().call("PATCH", kConfigMaps + "/" + name, good, kJson);
    CHECK(refused.status == 422);
    CHECK(refused.text("reason") == "Invalid");
    CHECK(server().call("GET", kConfigMaps + "/" + name).text("data", "value") == "2");
}

TEST_CASE("the status changes through its subresource only, and only the spec counts generations") {
    auto name = server().fresh("status");
    auto body = budget_of(name, 1);
    body["status"] = {{"disruptionsAllowed", 7}};
    auto created = server().call("POST", kBudgets, body);
    CHECK(created.status == 201);
    CHECK(created.text("status", "disruptionsAllowed") != "7");
    CHECK(created.text("metadata", "generation") == "1");
    json::object both{{"spec", {{"minAvailable", 2}}}, {"status", {{"disruptionsAllowed", 7}}}};
    auto main = server().call("PATCH", kBudgets + "/" + name, both, kMerge);
    CHECK(main.text("spec", "minAvailable") == "2");
    CHECK(main.text("status", "disruptionsAllowed") != "7");
    CHECK(main.text("metadata", "generation") == "2");
    json::object other{{"spec", {{"minAvailable", 3}}}, {"status", {{"expectedPods", 9}}}};
    auto status = server().call("PATCH", kBudgets + "/" + name + "/status", other, kMerge);
    CHECK(status.status == 200);
    CHECK(status.text("spec", "minAvailable") == "2");
    CHECK(status.text("status", "expectedPods") == "9");
    CHECK(status.text("metadata", "generation") == "2");
}

TEST_CASE("an object with a finalizer stays until the last one is removed, and gets no new one") {
    auto name = server().fresh("finalizer");
    auto body = config_map(name);
    body["metadata"].as_object()["finalizers"] = {"example.com/one", "example.com/two"};
    server().call("POST", kConfigMaps, body);
    auto deleting = server().call("DELETE", kConfigMaps + "/" + name);
    CHECK(deleting.status == 200);
    auto still = server().call("GET", kConfigMaps + "/" + name);
    CHECK_FALSE(still.text("metadata", "deletionTimestamp").empty());
    json::object more{
        {"metadata", {{"finalizers", {"example.com/one", "example.com/two", "example.com/three"}}}}};
    CHECK(server().call("PATCH", kConfigMaps + "/" + name, more, kMerge).status == 422);
    json::object fewer{{"metadata", {{"finalizers", {"example.com/two"}}}}};
    CHECK(server().call("PATCH", kConfigMaps + "/" + name, fewer, kMerge).status == 200);
    CHECK(server().call("GET", kConfigMaps + "/" + name).status == 200);
    json::object none{{"metadata", {{"finalizers", nullptr}}}};
    CHECK(server().call("PATCH", kConfigMaps + "/" + name, none, kMerge).status == 200);
    CHECK(server().call("GET", kConfigMaps + "/" + name).status == 404);
}

TEST_CASE("deleting is refused if a precondition does not hold") {
    auto name = server().fresh("precondition");
    auto created = server().call("POST", kConfigMaps, config_map(name));
    json::object other{{"preconditions", {{"uid", "00000000-0000-0000-0000-00000000ffff"}}}};
    CHECK(server().call("DELETE", kConfigMaps + "/" + name, other).status == 409);
    json::object stale{{"preconditions", {{"resourceVersion", "1"}}}};
    CHECK(server().call("DELETE", kConfigMaps + "/" + name, stale).status == 409);
    json::object same{{"preconditions", {{"uid", created.text("metadata", "uid")}}}};
    CHECK(server().call("DELETE", kConfigMaps + "/" + name, same).status == 200);
}

TEST_CASE("lists come in pages and are chosen by labels and fields") {
    auto mark = server().fresh("list");
    std::vector<std::string> all;
    for (int i = 0; i < 5; ++i) {
        auto body = config_map(mark + "-" + std::to_string(i));
        body["metadata"].as_object()["labels"] = {{"mark", mark}, {"odd", i % 2 == 1 ? "yes" : "no"}};
        server().call("POST", kConfigMaps, body);
        all.push_back(mark + "-" + std::to_string(i));
    }
    auto base = kConfigMaps + "?labelSelector=mark%3D" + mark;
    CHECK(names_of(server().call("GET", base)) == all);
    CHECK(names_of(server().call("GET", base + "%2Codd%3Dyes")) == std::vector<std::string>{all[1], all[3]});
    CHECK(names_of(server().call("GET", base + "%2Codd%20notin%20%28yes%29")).size() == 3);
    CHECK(names_of(server().call("GET", kConfigMaps + "?fieldSelector=metadata.name%3D" + all[2])) ==
          std::vector<std::string>{all[2]});
    auto first = server().call("GET", base + "&limit=3");
    CHECK(names_of(first).size() == 3);
    auto second = server().call("GET", base + "&limit=3&continue=" + first.text("metadata", "continue"));
    CHECK(names_of(second).size() == 2);
    CHECK(second.text("metadata", "continue").empty());
    CHECK(first.text("metadata", "resourceVersion") == second.text("metadata", "resourceVersion"));
}

TEST_CASE("a watch goes on from a resourceVersion and shows objects enter and leave its selection") {
    auto mark = server().fresh("watch");
    auto selection = kConfigMaps + "?labelSelector=mark%3D" + mark;
    auto start = server().call("GET", selection).text("metadata", "resourceVersion");
    server().call("POST", kConfigMaps, config_map(mark));
    auto label = [&](const json::value& value) {
        json::object change{{"metadata", {{"labels", {{"mark", value}}}}}};
        server().call("PATCH", kConfigMaps + "/" + mark, change, kMerge);
    };
    label(json::string(mark));
    server().call("PATCH", kConfigMaps + "/" + mark, config_map(mark, "2"), kMerge);
    label(nullptr);
    label(json::string(mark));
    server().call("DELETE", kConfigMaps + "/" + mark);
    auto events = server().watch(selection + "&watch=true&resourceVersion=" + start, 5);
    std::vector<std::string> types;
    for (const auto& event : events) types.emplace_back(event.at("type").as_string());
    CHECK(types == std::vector<std::string>{"ADDED", "MODIFIED", "DELETED", "ADDED", "DELETED"});
}

TEST_CASE("a watch with initial events ends them with a bookmark") {
    auto mark = server().fresh("initial");
    auto body = config_map(mark);
    body["metadata"].as_object()["labels"] = {{"mark", mark}};
    server().call("POST", kConfigMaps, body);
    auto events = server().watch(kConfigMaps + "?labelSelector=mark%3D" + mark +
                                     "&watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                                     "&allowWatchBookmarks=true",
                                 2);
    REQUIRE(events.size() == 2);
    CHECK(events[0].at("type") == "ADDED");
    CHECK(events[1].at("type") == "BOOKMARK");
    CHECK(events[1].at("object").at("metadata").at("annotations").at("k8s.io/initial-events-end") == "true");
}

TEST_CASE("what an object owned goes with it") {
    auto name = server().fresh("owner");
    auto owner = server().call("POST", kConfigMaps, config_map(name));
    auto child = config_map(name + "-child");
    json::object reference{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", name}};
    reference["uid"] = owner.text("metadata", "uid");
    child["metadata"].as_object()["ownerReferences"] = json::array{reference};
    server().call("POST", kConfigMaps, child);
    json::object background{{"propagationPolicy", "Background"}};
    server().call("DELETE", kConfigMaps + "/" + name, background);
    CHECK(server().until(
        [&] { return server().call("GET", kConfigMaps + "/" + name + "-child").status == 404; }));
}

TEST_CASE("a running pod ends gracefully, and at once when told so") {
    auto name = server().fresh("graceful");
    CHECK(running_pod(name).status == 200);
    CHECK(server().call("DELETE", kPods + "/" + name).status == 200);
    auto ending = server().call("GET", kPods + "/" + name);
    CHECK(ending.status == 200);
    CHECK(ending.text("metadata", "deletionGracePeriodSeconds") == "3600");
    json::object now{{"gracePeriodSeconds", 0}};
    CHECK(server().call("DELETE", kPods + "/" + name, now).status == 200);
    CHECK(server().call("GET", kPods + "/" + name).status == 404);
}

TEST_CASE("a pod that was never bound is gone at once") {
    auto name = server().fresh("unbound");
    auto body = pod(name);
    body["spec"].as_object().erase("nodeName");
    body["spec"].as_object()["schedulerName"] = "nobody";
    CHECK(server().call("POST", kPods, body).status == 201);
    CHECK(server().call("DELETE", kPods + "/" + name).status == 200);
    CHECK(server().call("GET", kPods + "/" + name).status == 404);
}

TEST_CASE("an eviction asks the budget, says which one refuses, and starts a graceful end") {
    auto name = server().fresh("evicted");
    auto uid = running_pod(name).text("metadata", "uid");
    server().call("POST", kBudgets, budget_of(name, 1));
    REQUIRE(server().budget_allows(name, 0));
    auto refused = server().call("POST", kPods + "/" + name + "/eviction", eviction_of(name));
    CHECK(refused.status == 429);
    CHECK(refused.text("reason") == "TooManyRequests");
    REQUIRE(refused.body.contains("details"));
    CHECK(refused.body.at("details").at("causes").as_array().at(0).at("reason") == "DisruptionBudget");

    json::object relaxed{{"spec", {{"minAvailable", 0}}}};
    server().call("PATCH", kBudgets + "/" + name, relaxed, kMerge);
    REQUIRE(server().budget_allows(name, 1));
    auto other = eviction_of(name, "00000000-0000-0000-0000-00000000ffff");
    CHECK(server().call("POST", kPods + "/" + name + "/eviction", other).status == 409);
    CHECK(server().call("POST", kPods + "/" + name + "/eviction", eviction_of(name, uid)).status == 201);
    CHECK_FALSE(server().call("GET", kPods + "/" + name).text("metadata", "deletionTimestamp").empty());
    server().call("DELETE", kPods + "/" + name, json::object{{"gracePeriodSeconds", 0}});
    CHECK(server().call("POST", kPods + "/" + name + "/eviction", eviction_of(name)).status == 404);
}

TEST_CASE("a Lease changes hands by compare-and-swap") {
    auto name = server().fresh("lease");
    const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    json::object body{{"metadata", {{"name", name}}},
                      {"spec", {{"holderIdentity", "a"}, {"renewTime", "2027-01-15T08:00:00.000001Z"}}}};
    auto created = server().call("POST", leases, body);
    CHECK(created.status == 201);
    CHECK(created.text("spec", "renewTime") == "2027-01-15T08:00:00.000001Z");
    auto take = [&](const std::string& identity) {
        json::object change{{"metadata", {{"resourceVersion", created.text("metadata", "resourceVersion")}}},
                            {"spec", {{"holderIdentity", identity}}}};
        return server().call("PATCH", leases + "/" + name, change, kMerge).status;
    };
    CHECK(take("b") == 200);
    CHECK(take("c") == 409);
}

// Tests patches and the fields that they may change.
#include "test/simulation/contract/kubernetes/objects.hpp"
#include "test/support/catch.hpp"

using namespace contract;

namespace {

Answer patch(const std::string& name, const json::value& body, const char* type = kMergePatch) {
    return server().call("PATCH", kConfigMaps + "/" + name, body, type);
}

Answer read(const std::string& name) {
    return server().call("GET", kConfigMaps + "/" + name);
}

}  // namespace

TEST_CASE("a merge patch sets and removes what it names and keeps the rest") {
    auto name = server().fresh("merge");
    auto body = config_map(name);
    body["data"] = {{"a", "1"}, {"b", "2"}};
    server().call("POST", kConfigMaps, body);
    json::object change{{"data", {{"a", nullptr}, {"c", "3"}, {"never", nullptr}}}};
    auto patched = patch(name, change);
    CHECK(patched.status == 200);
    CHECK(patched.body.at("data") == json::value{{"b", "2"}, {"c", "3"}});
    json::object labels{{"metadata", {{"labels", {{"new", "yes"}, {"none", nullptr}}}}}};
    CHECK(patch(name, labels).body.at("metadata").at("labels") == json::value{{"new", "yes"}});
    CHECK(patch(server().fresh("absent"), change).status == 404);
    CHECK(patch(name, change, "application/x-unknown").status == 415);
    CHECK(patch(name, "{").status == 400);
}

TEST_CASE("a merge patch replaces lists as a whole") {
    auto name = server().fresh("lists");
    auto body = config_map(name);
    body["metadata"].as_object()["finalizers"] = json::array{"example.com/a", "example.com/b"};
    server().call("POST", kConfigMaps, body);
    auto patched = patch(name, metadata("finalizers", json::array{"example.com/c"}));
    CHECK(patched.body.at("metadata").at("finalizers") == json::array{"example.com/c"});
    patch(name, metadata("finalizers", nullptr));
}

TEST_CASE("a patch that changes nothing writes nothing") {
    auto name = server().fresh("same");
    auto created = server().call("POST", kConfigMaps, config_map(name));
    auto patched = patch(name, config_map(name));
    CHECK(patched.status == 200);
    CHECK(patched.text("metadata", "resourceVersion") == created.text("metadata", "resourceVersion"));
}

TEST_CASE("a patch with an outdated resourceVersion conflicts") {
    auto name = server().fresh("conflict");
    auto created = server().call("POST", kConfigMaps, config_map(name));
    auto locked = [&](const std::string& value) {
        json::object change{{"data", {{"value", value}}}};
        change["metadata"] = {{"resourceVersion", created.text("metadata", "resourceVersion")}};
        return change;
    };
    CHECK(patch(name, locked("2")).status == 200);
    auto stale = patch(name, locked("3"));
    CHECK(stale.status == 409);
    CHECK(stale.text("reason") == "Conflict");
    CHECK(read(name).text("data", "value") == "2");
}

TEST_CASE("identity cannot be patched") {
    auto name = server().fresh("identity");
    auto created = server().call("POST", kConfigMaps, config_map(name));
    auto other = patch(name, metadata("uid", kOtherUid));
    CHECK(other.status == 422);
    CHECK(other.text("reason") == "Invalid");
    CHECK(patch(name, metadata("name", "another")).status == 400);
    CHECK(patch(name, metadata("namespace", "kube-system")).status == 400);
    CHECK(patch(name, metadata("creationTimestamp", "2001-01-01T00:00:00Z")).status == 200);
    CHECK(read(name).body.at("metadata") == created.body.at("metadata"));
}

TEST_CASE("a JSON patch with a failing test is refused as a whole") {
    auto name = server().fresh("test");
    server().call("POST", kConfigMaps, config_map(name));
    json::array good{{{"op", "test"}, {"path", "/data/value"}, {"value", "1"}},
                     {{"op", "replace"}, {"path", "/data/value"}, {"value", "2"}}};
    CHECK(patch(name, good, kJsonPatch).status == 200);
    json::array late{{{"op", "add"}, {"path", "/data/more"}, {"value", "3"}},
                     {{"op", "test"}, {"path", "/data/value"}, {"value", "1"}}};
    auto refused = patch(name, late, kJsonPatch);
    CHECK(refused.status == 422);
    CHECK(refused.text("reason") == "Invalid");
    CHECK(read(name).body.at("data") == json::value{{"value", "2"}});
}

TEST_CASE("a JSON patch of what is not there is refused") {
    auto name = server().fresh("nowhere");
    server().call("POST", kConfigMaps, config_map(name));
    json::array removed{{{"op", "remove"}, {"path", "/metadata/finalizers/0"}}};
    CHECK(patch(name, removed, kJsonPatch).status == 422);
    json::array tested{{{"op", "test"}, {"path", "/metadata/finalizers"}, {"value", json::array{"x"}}}};
    CHECK(patch(name, tested, kJsonPatch).status == 422);
    CHECK(patch(name, json::object{{"op", "add"}}, kJsonPatch).status == 400);
}

TEST_CASE("finalizers are added and removed one by one, unless somebody else was quicker") {
    auto name = server().fresh("finalizers");
    auto created = server().call("POST", kConfigMaps, config_map(name));
    auto version = created.text("metadata", "resourceVersion");
    json::array first{
        {{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", version}},
        {{"op", "add"}, {"path", "/metadata/finalizers"}, {"value", json::array{"example.com/a"}}}};
    CHECK(patch(name, first, kJsonPatch).status == 200);
    auto late = patch(name, first, kJsonPatch);
    CHECK(late.status == 422);
    json::array second{
        {{"op", "test"}, {"path", "/metadata/finalizers"}, {"value", json::array{"example.com/a"}}},
        {{"op", "add"}, {"path", "/metadata/finalizers/-"}, {"value", "example.com/b"}}};
    auto both = patch(name, second, kJsonPatch);
    CHECK(both.body.at("metadata").at("finalizers") == json::array{"example.com/a", "example.com/b"});
    CHECK(patch(name, second, kJsonPatch).status == 422);
    json::array remove_first{{{"op", "test"}, {"path", "/metadata/finalizers/0"}, {"value", "example.com/a"}},
                             {{"op", "remove"}, {"path", "/metadata/finalizers/0"}}};
    auto one = patch(name, remove_first, kJsonPatch);
    CHECK(one.body.at("metadata").at("finalizers") == json::array{"example.com/b"});
    CHECK(patch(name, remove_first, kJsonPatch).status == 422);
    patch(name, metadata("finalizers", nullptr));
}

TEST_CASE("the status changes through its subresource only, and only the spec counts generations") {
    auto name = server().fresh("status");
    auto body = budget(name, 1);
    body["status"] = {{"disruptionsAllowed", 7}};
    auto created = server().call("POST", kBudgets, body);
    CHECK(created.status == 201);
    CHECK(created.text("status", "disruptionsAllowed") != "7");
    CHECK(created.text("metadata", "generation") == "1");
    json::object both{{"spec", {{"minAvailable", 2}}}, {"status", {{"disruptionsAllowed", 7}}}};
    auto main = server().call("PATCH", kBudgets + "/" + name, both, kMergePatch);
    CHECK(main.text("spec", "minAvailable") == "2");
    CHECK(main.text("status", "disruptionsAllowed") != "7");
    CHECK(main.text("metadata", "generation") == "2");
    json::object other{{"spec", {{"minAvailable", 3}}}, {"status", {{"expectedPods", 9}}}};
    auto status = server().call("PATCH", kBudgets + "/" + name + "/status", other, kMergePatch);
    CHECK(status.status == 200);
    CHECK(status.text("spec", "minAvailable") == "2");
    CHECK(status.text("status", "expectedPods") == "9");
    CHECK(status.text("metadata", "generation") == "2");
    CHECK(server().call("PATCH", kConfigMaps + "/" + name + "/status", both, kMergePatch).status == 404);
}

TEST_CASE("a Node keeps taints and labels that others set meanwhile only if the patch is locked") {
    const std::string nodes = "/api/v1/nodes";
    auto name = server().fresh("node");
    json::object taint{{"key", "example.com/a"}, {"effect", "NoSchedule"}};
    json::object node{{"apiVersion", "v1"},
                      {"kind", "Node"},
                      {"metadata", {{"name", name}}},
                      {"spec", {{"taints", json::array{taint}}}},
                      {"status", {{"nodeInfo", {{"systemUUID", kOtherUid}}}}}};
    auto created = server().call("POST", nodes, node);
    CHECK(created.status == 201);
    CHECK(created.text("status", "nodeInfo", "systemUUID") == kOtherUid);
    auto labelled = server().call("PATCH", nodes + "/" + name, metadata("labels", {{"a", "b"}}), kMergePatch);
    CHECK(labelled.text("metadata", "labels", "a") == "b");
    json::object untainted{{"spec", {{"taints", nullptr}}}};
    untainted["metadata"] = {{"resourceVersion", created.text("metadata", "resourceVersion")}};
    CHECK(server().call("PATCH", nodes + "/" + name, untainted, kMergePatch).status == 409);
    // Controllers, where they run, also write to a new Node.
    CHECK(server().until([&] {
        auto read = server().call("GET", nodes + "/" + name);
        untainted["metadata"] = {{"resourceVersion", read.text("metadata", "resourceVersion")}};
        return server().call("PATCH", nodes + "/" + name, untainted, kMergePatch).status == 200;
    }));
    CHECK(server().call("DELETE", nodes + "/" + name).status == 200);
    CHECK(server().call("GET", nodes + "/" + name).status == 404);
}

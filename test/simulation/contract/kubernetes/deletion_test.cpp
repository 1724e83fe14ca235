// Tests finalizers, preconditions and owners.
#include "test/simulation/contract/kubernetes/objects.hpp"
#include "test/support/catch.hpp"

using namespace contract;

namespace {

std::string path_of(const std::string& name) {
    return kConfigMaps + "/" + name;
}

bool is_gone(const std::string& name) {
    return server().call("GET", path_of(name)).status == 404;
}

json::object finalized(const std::string& name, const json::value& finalizers) {
    auto body = config_map(name);
    body["metadata"].as_object()["finalizers"] = finalizers;
    return body;
}

json::object owner(const std::string& name, const std::string& uid) {
    return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", name}, {"uid", uid}};
}

json::object owned(const std::string& name, json::array owners) {
    auto body = config_map(name);
    body["metadata"].as_object()["ownerReferences"] = std::move(owners);
    return body;
}

std::string create(const std::string& name) {
    return server().call("POST", kConfigMaps, config_map(name)).text("metadata", "uid");
}

const json::object kBackground{{"propagationPolicy", "Background"}};

}  // namespace

TEST_CASE("an object with a finalizer stays until the last one is removed, and gets no new one") {
    auto name = server().fresh("finalizer");
    server().call("POST", kConfigMaps, finalized(name, json::array{"example.com/one", "example.com/two"}));
    auto deleting = server().call("DELETE", path_of(name));
    CHECK(deleting.status == 200);
    CHECK_FALSE(deleting.text("metadata", "deletionTimestamp").empty());
    auto still = server().call("GET", path_of(name));
    auto since = still.text("metadata", "deletionTimestamp");
    CHECK_FALSE(since.empty());
    CHECK(still.text("metadata", "deletionGracePeriodSeconds") == "0");
    CHECK(server().call("DELETE", path_of(name)).status == 200);
    CHECK(server().call("GET", path_of(name)).text("metadata", "deletionTimestamp") == since);
    CHECK(server().call("PATCH", path_of(name), metadata("deletionTimestamp", nullptr), kMergePatch).status ==
          200);
    CHECK(server().call("GET", path_of(name)).text("metadata", "deletionTimestamp") == since);

    auto more =
        metadata("finalizers", json::array{"example.com/one", "example.com/two", "example.com/three"});
    CHECK(server().call("PATCH", path_of(name), more, kMergePatch).status == 422);
    auto fewer = metadata("finalizers", json::array{"example.com/two"});
    CHECK(server().call("PATCH", path_of(name), fewer, kMergePatch).status == 200);
    CHECK_FALSE(is_gone(name));
    CHECK(server().call("POST", kConfigMaps, config_map(name)).text("reason") == "AlreadyExists");
    auto last = server().call("PATCH", path_of(name), metadata("finalizers", nullptr), kMergePatch);
    CHECK(last.status == 200);
    CHECK(last.text("metadata", "name") == name);
    CHECK(is_gone(name));
}

TEST_CASE("the end of an object with finalizers is one change when it is asked for and one when it happens") {
    auto name = server().fresh("end");
    auto selection = kConfigMaps + "?fieldSelector=metadata.name%3D" + name;
    auto start = server().call("GET", selection).text("metadata", "resourceVersion");
    server().call("POST", kConfigMaps, finalized(name, json::array{"example.com/one"}));
    server().call("DELETE", path_of(name));
    server().call("PATCH", path_of(name), metadata("finalizers", nullptr), kMergePatch);
    auto watched = server().watch(selection + "&watch=1&resourceVersion=" + start, 3);
    CHECK(told(watched.events) ==
          std::vector<std::string>{"ADDED " + name, "MODIFIED " + name, "DELETED " + name});
    REQUIRE(watched.events.size() == 3);
    CHECK(watched.events[1].at("object").at("metadata").as_object().contains("deletionTimestamp"));
}

TEST_CASE("deleting is refused if a precondition does not hold") {
    auto name = server().fresh("precondition");
    auto created = server().call("POST", kConfigMaps, config_map(name));
    json::object other{{"preconditions", {{"uid", kOtherUid}}}};
    auto refused = server().call("DELETE", path_of(name), other);
    CHECK(refused.status == 409);
    CHECK(refused.text("reason") == "Conflict");
    json::object stale{{"preconditions", {{"resourceVersion", "1"}}}};
    CHECK(server().call("DELETE", path_of(name), stale).status == 409);
    json::object same{{"preconditions",
                       {{"uid", created.text("metadata", "uid")},
                        {"resourceVersion", created.text("metadata", "resourceVersion")}}}};
    CHECK(server().call("DELETE", path_of(name), same).status == 200);
    CHECK(server().call("DELETE", path_of(name), same).status == 404);
}

TEST_CASE("what an object owned goes with it, unless it has another owner") {
    auto name = server().fresh("owner");
    auto first = owner(name, create(name));
    auto second = owner(name + "-2", create(name + "-2"));
    server().call("POST", kConfigMaps, owned(name + "-child", {first}));
    server().call("POST", kConfigMaps, owned(name + "-shared", {first, second}));
    server().call("DELETE", path_of(name), kBackground);
    CHECK(server().until([&] { return is_gone(name + "-child"); }));
    CHECK(server().until([&] {
        auto shared = server().call("GET", path_of(name + "-shared"));
        return shared.body.at("metadata").at("ownerReferences").as_array().size() == 1;
    }));
}

TEST_CASE("what an object owned and that has a finalizer is deleted, and stays for it") {
    auto name = server().fresh("owner");
    auto first = owner(name, create(name));
    auto child = owned(name + "-child", {first});
    child["metadata"].as_object()["finalizers"] = json::array{"example.com/one"};
    server().call("POST", kConfigMaps, child);
    server().call("DELETE", path_of(name), kBackground);
    CHECK(server().until([&] {
        auto read = server().call("GET", path_of(name + "-child"));
        return !read.text("metadata", "deletionTimestamp").empty();
    }));
    server().call("PATCH", path_of(name + "-child"), metadata("finalizers", nullptr), kMergePatch);
    CHECK(is_gone(name + "-child"));
}

TEST_CASE("an object made for an owner that is no more goes too") {
    auto name = server().fresh("late");
    auto reference = owner(name, create(name));
    server().call("DELETE", path_of(name), kBackground);
    // A new object of the same name is not the owner.
    create(name);
    CHECK(server().call("POST", kConfigMaps, owned(name + "-child", {reference})).status == 201);
    CHECK(server().until([&] { return is_gone(name + "-child"); }));
}

TEST_CASE("what an object owned stays if it is orphaned") {
    auto name = server().fresh("orphan");
    auto reference = owner(name, create(name));
    server().call("POST", kConfigMaps, owned(name + "-child", {reference}));
    server().call("DELETE", path_of(name), json::object{{"propagationPolicy", "Orphan"}});
    CHECK(server().until([&] { return is_gone(name); }));
    auto child = server().call("GET", path_of(name + "-child"));
    CHECK(child.status == 200);
    CHECK_FALSE(child.body.at("metadata").as_object().contains("ownerReferences"));
}

TEST_CASE("a namespace that is being deleted takes nothing new, and says so by a cause") {
    auto name = server().fresh("ending");
    auto body = metadata("name", json::string(name));
    body["apiVersion"] = "v1";
    body["kind"] = "Namespace";
    body["metadata"].as_object()["finalizers"] = json::array{"example.com/one"};
    CHECK(server().call("POST", "/api/v1/namespaces", body).status == 201);
    const auto path = "/api/v1/namespaces/" + name;
    auto held = config_map("held");
    held["metadata"].as_object()["finalizers"] = json::array{"example.com/one"};
    held["metadata"].as_object()["namespace"] = name;
    CHECK(server().call("POST", path + "/configmaps", held).status == 201);
    CHECK(server().call("DELETE", path).status == 200);
    auto late = config_map("late");
    late["metadata"].as_object()["namespace"] = name;
    auto refused = server().call("POST", path + "/configmaps", late);
    CHECK(refused.status == 403);
    REQUIRE(refused.body.at("details").as_object().contains("causes"));
    CHECK(refused.body.at("details").at("causes").at(0).at("reason") == "NamespaceTerminating");
    // Objects that exist can still be changed.
    auto free = metadata("finalizers", nullptr);
    CHECK(server().call("PATCH", path + "/configmaps/held", free, kMergePatch).status == 200);
    CHECK(server().call("PATCH", path, free, kMergePatch).status == 200);
}

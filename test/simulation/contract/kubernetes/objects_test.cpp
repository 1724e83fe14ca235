// Tests single objects. The contract is what the simulation assumes about a Kubernetes API server. The same
// cases run against the server in memory and against a real one, so the simulation cannot drift from reality.
#include "test/simulation/contract/kubernetes/objects.hpp"
#include "test/support/catch.hpp"

using namespace contract;

TEST_CASE("an object is created once, read back, and deleted once") {
    auto name = server().fresh("life");
    CHECK(server().call("GET", kConfigMaps + "/" + name).status == 404);
    auto created = server().call("POST", kConfigMaps, config_map(name));
    CHECK(created.status == 201);
    CHECK_FALSE(created.text("metadata", "uid").empty());
    CHECK_FALSE(created.text("metadata", "resourceVersion").empty());
    CHECK_FALSE(created.text("metadata", "creationTimestamp").empty());
    CHECK(created.text("metadata", "namespace") == "default");
    auto again = server().call("POST", kConfigMaps, config_map(name));
    CHECK(again.status == 409);
    CHECK(again.text("reason") == "AlreadyExists");
    auto read = server().call("GET", kConfigMaps + "/" + name);
    CHECK(read.body.at("metadata") == created.body.at("metadata"));
    CHECK(server().call("DELETE", kConfigMaps + "/" + name).status == 200);
    auto gone = server().call("DELETE", kConfigMaps + "/" + name);
    CHECK(gone.status == 404);
    CHECK(gone.text("reason") == "NotFound");
}

TEST_CASE("an object made anew under its old name is another one") {
    auto name = server().fresh("anew");
    auto first = server().call("POST", kConfigMaps, config_map(name));
    server().call("DELETE", kConfigMaps + "/" + name);
    auto second = server().call("POST", kConfigMaps, config_map(name));
    CHECK(second.status == 201);
    CHECK(second.text("metadata", "uid") != first.text("metadata", "uid"));
    CHECK(std::stoull(second.text("metadata", "resourceVersion")) >
          std::stoull(first.text("metadata", "resourceVersion")));
}

TEST_CASE("what the server decides is not taken from who creates") {
    auto name = server().fresh("decided");
    auto body = config_map(name);
    auto& fields = body["metadata"].as_object();
    fields["uid"] = kOtherUid;
    fields["creationTimestamp"] = "2001-01-01T00:00:00Z";
    fields["deletionTimestamp"] = "2001-01-01T00:00:00Z";
    auto created = server().call("POST", kConfigMaps, body);
    CHECK(created.status == 201);
    CHECK(created.text("metadata", "uid") != kOtherUid);
    CHECK_FALSE(created.text("metadata", "creationTimestamp").starts_with("2001"));
    CHECK(created.text("metadata", "deletionTimestamp").empty());
}

TEST_CASE("a name is generated, and one is required") {
    auto generated = metadata("generateName", "generated-");
    auto first = server().call("POST", kConfigMaps, generated);
    auto second = server().call("POST", kConfigMaps, generated);
    CHECK(first.status == 201);
    CHECK(first.text("metadata", "name").starts_with("generated-"));
    CHECK(first.text("metadata", "name").size() == std::string("generated-").size() + 5);
    CHECK(first.text("metadata", "name") != second.text("metadata", "name"));
    auto nameless = server().call("POST", kConfigMaps, json::object{{"metadata", json::object{}}});
    CHECK(nameless.status == 422);
    CHECK(nameless.text("reason") == "Invalid");
}

TEST_CASE("names and labels have a syntax") {
    auto invalid = [](const json::object& body) {
        auto answer = server().call("POST", kConfigMaps, body);
        return answer.status == 422 && answer.text("reason") == "Invalid";
    };
    auto labelled = [](const std::string& key, const std::string& value) {
        auto body = config_map(server().fresh("labelled"));
        json::object labels;
        labels[key] = value;
        body["metadata"].as_object()["labels"] = labels;
        return body;
    };
    CHECK(invalid(config_map("Upper")));
    CHECK(invalid(config_map("under_score")));
    CHECK(invalid(config_map("-dash")));
    CHECK(invalid(config_map(std::string(254, 'a'))));
    CHECK_FALSE(invalid(config_map(server().fresh("with.dots-and-9"))));
    CHECK(invalid(labelled("key", "not this one")));
    CHECK(invalid(labelled("key", std::string(64, 'v'))));
    CHECK(invalid(labelled("a/b/c", "v")));
    CHECK(invalid(labelled("-", "v")));
    CHECK_FALSE(invalid(labelled("example.com/Some_key.x", "A-value_1.0")));
    CHECK_FALSE(invalid(labelled("empty", "")));
}

TEST_CASE("who says no says why in a Status") {
    auto name = server().fresh("absent");
    auto absent = server().call("GET", kConfigMaps + "/" + name);
    CHECK(absent.text("kind") == "Status");
    CHECK(absent.text("apiVersion") == "v1");
    CHECK(absent.text("status") == "Failure");
    CHECK(absent.text("code") == "404");
    CHECK(absent.text("reason") == "NotFound");
    CHECK(absent.text("message") == "configmaps \"" + name + "\" not found");
    CHECK(absent.text("details", "name") == name);
    CHECK(absent.text("details", "kind") == "configmaps");
    auto lease = server().call("GET", kLeases + "/" + name);
    CHECK(lease.text("message") == "leases.coordination.k8s.io \"" + name + "\" not found");
    CHECK(lease.text("details", "group") == "coordination.k8s.io");

    server().call("POST", kConfigMaps, config_map(name));
    auto taken = server().call("POST", kConfigMaps, config_map(name));
    CHECK(taken.text("message") == "configmaps \"" + name + "\" already exists");
    CHECK(taken.text("details", "name") == name);
    auto stale =
        server().call("PATCH", kConfigMaps + "/" + name, metadata("resourceVersion", "1"), kMergePatch);
    CHECK(stale.text("message") == "Operation cannot be fulfilled on configmaps \"" + name +
                                       "\": the object has been modified; please apply your changes to the "
                                       "latest version and try again");
}

TEST_CASE("a resource that is not served is not found, in other words than an object") {
    auto unknown = server().call("GET", "/api/v1/namespaces/default/gadgets/x");
    CHECK(unknown.status == 404);
    CHECK(unknown.text("reason") == "NotFound");
    CHECK(unknown.text("message") == "the server could not find the requested resource");
    CHECK(server().call("GET", "/apis/gadgets.example.com/v1/gadgets").status == 404);
}

TEST_CASE("what is no object is refused") {
    auto refused = [](const json::value& body) {
        auto answer = server().call("POST", kConfigMaps, body);
        return answer.status == 400 && answer.text("reason") == "BadRequest";
    };
    CHECK(refused("{"));
    CHECK(refused("[]"));
    auto elsewhere = config_map(server().fresh("elsewhere"));
    elsewhere["metadata"].as_object()["namespace"] = "kube-system";
    CHECK(refused(elsewhere));
}

// Tests our kinds, which come from a CustomResourceDefinition.
#include <boost/json/array.hpp>

#include "test/simulation/contract/kubernetes/objects.hpp"
#include "test/support/catch.hpp"

using namespace contract;

namespace {

const std::string kVersion = "/apis/kubenodesmith.parawell.cloud/v1alpha1";
const std::string kClaims = kVersion + "/namespaces/default/nodesmithclaims";

json::object claim(const std::string& name) {
    return {{"apiVersion", "kubenodesmith.parawell.cloud/v1alpha1"},
            {"kind", "NodeSmithClaim"},
            {"metadata", {{"name", name}}},
            {"spec", {{"poolRef", "pool"}}}};
}

Answer patch(const std::string& path, const json::object& change) {
    return server().call("PATCH", kClaims + "/" + path, change, kMergePatch);
}

}  // namespace

// Reports whether nobody wrote the status. The CRDs have a default that says so.
static bool has_no_status(const boost::json::object& object) {
    const auto* status = object.if_contains("status");
    return !status || *status == boost::json::value(boost::json::object{{"observedGeneration", -1}});
}

TEST_CASE("the resources of a version are listed") {
    auto found = server().call("GET", kVersion);
    CHECK(found.text("kind") == "APIResourceList");
    bool listed = false;
    for (const auto& resource : found.body.at("resources").as_array()) {
        listed |= resource.at("name") == "nodesmithclaims";
    }
    CHECK(listed);
}

TEST_CASE(
    "the status of a custom resource changes through its subresource only, and nothing else does there") {
    auto name = server().fresh("claim");
    auto body = claim(name);
    body["status"] = {{"host", "x"}};
    auto created = server().call("POST", kClaims, body);
    CHECK(created.status == 201);
    CHECK(has_no_status(created.body));
    CHECK(created.text("metadata", "generation") == "1");

    json::object both{{"metadata", {{"labels", {{"a", "b"}}}}}, {"status", {{"host", "y"}}}};
    auto main = patch(name, both);
    CHECK(main.text("metadata", "labels", "a") == "b");
    CHECK(has_no_status(main.body));
    CHECK(main.text("metadata", "generation") == "1");

    json::object more{{"metadata", {{"labels", {{"a", "c"}}}}}, {"status", {{"host", "z"}}}};
    auto status = patch(name + "/status", more);
    CHECK(status.status == 200);
    CHECK(status.text("status", "host") == "z");
    CHECK(status.text("metadata", "labels", "a") == "b");
    CHECK(status.text("metadata", "generation") == "1");
    CHECK(patch(name + "/status", more).text("metadata", "resourceVersion") ==
          status.text("metadata", "resourceVersion"));
}

TEST_CASE("of two who write a status that they have read one succeeds") {
    auto name = server().fresh("claim");
    auto created = server().call("POST", kClaims, claim(name));
    auto write = [&](const std::string& host) {
        json::object change{{"status", {{"host", host}}}};
        change["metadata"] = {{"resourceVersion", created.text("metadata", "resourceVersion")}};
        return patch(name + "/status", change);
    };
    CHECK(write("a").status == 200);
    auto late = write("b");
    CHECK(late.status == 409);
    CHECK(late.text("reason") == "Conflict");
    CHECK(server().call("GET", kClaims + "/" + name).text("status", "host") == "a");
}

TEST_CASE("the wish to delete a custom resource with a finalizer counts as a generation") {
    auto name = server().fresh("claim");
    auto body = claim(name);
    body["metadata"].as_object()["finalizers"] = json::array{"example.com/one"};
    server().call("POST", kClaims, body);
    auto deleting = server().call("DELETE", kClaims + "/" + name);
    CHECK(deleting.text("metadata", "generation") == "2");
    // A client can still write the status.
    CHECK(patch(name + "/status", {{"status", {{"host", "gone"}}}}).status == 200);
    CHECK(patch(name, metadata("finalizers", nullptr)).status == 200);
    CHECK(patch(name + "/status", {{"status", {{"host", "late"}}}}).status == 404);
}

TEST_CASE("custom resources are selected by name and labels only") {
    auto name = server().fresh("claim");
    server().call("POST", kClaims, claim(name));
    CHECK(names_of(server().call("GET", kClaims + "?fieldSelector=metadata.name%3D" + name)).size() == 1);
    CHECK(server().call("GET", kClaims + "?fieldSelector=spec.poolRef%3Dpool").status == 400);
}

// Tests Leases, which leader election relies on.
#include "test/simulation/contract/kubernetes/objects.hpp"
#include "test/support/catch.hpp"

using namespace contract;

namespace {

json::object lease(const std::string& name, const std::string& holder) {
    return {{"apiVersion", "coordination.k8s.io/v1"},
            {"kind", "Lease"},
            {"metadata", {{"name", name}}},
            {"spec",
             {{"holderIdentity", holder},
              {"leaseDurationSeconds", 15},
              {"renewTime", "2027-01-15T08:00:00.000001Z"}}}};
}

Answer take(const std::string& name, const std::string& version, const std::string& holder) {
    json::object change{{"spec", {{"holderIdentity", holder}}}};
    change["metadata"] = {{"resourceVersion", version}};
    return server().call("PATCH", kLeases + "/" + name, change, kMergePatch);
}

}  // namespace

TEST_CASE("of two who create a Lease one gets it") {
    auto name = server().fresh("lease");
    CHECK(server().call("POST", kLeases, lease(name, "a")).status == 201);
    auto second = server().call("POST", kLeases, lease(name, "b"));
    CHECK(second.status == 409);
    CHECK(second.text("reason") == "AlreadyExists");
    CHECK(server().call("GET", kLeases + "/" + name).text("spec", "holderIdentity") == "a");
}

TEST_CASE("of two who take a Lease that they have read one gets it") {
    auto name = server().fresh("lease");
    auto created = server().call("POST", kLeases, lease(name, "a"));
    CHECK(created.text("spec", "renewTime") == "2027-01-15T08:00:00.000001Z");
    auto version = created.text("metadata", "resourceVersion");
    auto taken = take(name, version, "b");
    CHECK(taken.status == 200);
    auto late = take(name, version, "c");
    CHECK(late.status == 409);
    CHECK(late.text("reason") == "Conflict");
    // The same holder is refused as well if its knowledge is old.
    CHECK(take(name, version, "a").status == 409);
    auto read = server().call("GET", kLeases + "/" + name);
    CHECK(read.text("spec", "holderIdentity") == "b");
    CHECK(take(name, taken.text("metadata", "resourceVersion"), "").status == 200);
}

TEST_CASE("a Lease that was deleted is not taken but made anew") {
    auto name = server().fresh("lease");
    auto created = server().call("POST", kLeases, lease(name, "a"));
    server().call("DELETE", kLeases + "/" + name);
    auto late = take(name, created.text("metadata", "resourceVersion"), "b");
    CHECK(late.status == 404);
    CHECK(server().call("POST", kLeases, lease(name, "b")).status == 201);
    CHECK(take(name, created.text("metadata", "resourceVersion"), "a").status == 409);
}

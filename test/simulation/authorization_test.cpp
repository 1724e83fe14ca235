#include "test/simulation/authorization.hpp"

#include <boost/json/serialize.hpp>

#include "api/yaml.hpp"
#include "test/support/catch.hpp"
#include "test/support/virtual_clock.hpp"

using namespace simulation;

namespace {

const std::string kClaims = "/apis/kubenodesmith.parawell.cloud/v1alpha1/namespaces/nodes/nodesmithclaims";
const std::string kOurs = "kubenodesmith.parawell.cloud";

base::HttpRequest request(std::string method, std::string target, std::string body = {}) {
    base::HttpRequest made;
    made.method = std::move(method);
    made.target = std::move(target);
    made.body = std::move(body);
    return made;
}

struct Server {
    boost::asio::io_context context;
    fake::VirtualClock clock;
    fake::Store store{clock};

    std::vector<fake::Right> needed(std::string method, std::string target, std::string body = {}) {
        return fake::needed_rights(request(std::move(method), std::move(target), std::move(body)), store);
    }
};

fake::Rights rights_of(const std::string& manifests) {
    boost::json::array documents;
    for (auto& document : api::parse_yaml_documents(manifests)) documents.push_back(std::move(document));
    return fake::Rights(documents);
}

}  // namespace

TEST_CASE("a request needs the verb, resource, namespace and name that RBAC sees") {
    Server server;
    using Needed = std::vector<fake::Right>;
    CHECK(server.needed("GET", "/api/v1/pods?limit=500") == Needed{{"list", "", "pods", "", ""}});
    CHECK(server.needed("GET", "/api/v1/pods?watch=1") == Needed{{"watch", "", "pods", "", ""}});
    CHECK(server.needed("GET", "/api/v1/nodes/a") == Needed{{"get", "", "nodes", "", "a"}});
    CHECK(server.needed("POST", "/api/v1/namespaces/shop/pods/web/eviction", "{}") ==
          Needed{{"create", "", "pods/eviction", "shop", "web"}});
    CHECK(server.needed("DELETE", kClaims + "/a") ==
          Needed{{"delete", kOurs, "nodesmithclaims", "nodes", "a"}});
    CHECK(server.needed("DELETE", kClaims) ==
          Needed{{"deletecollection", kOurs, "nodesmithclaims", "nodes", ""}});
    CHECK(server.needed("GET", "/version").empty());
}

TEST_CASE("a request needs also the rights that admission asks about") {
    Server server;
    const auto of_status = server.needed("PATCH", kClaims + "/a/status", "{}");
    CHECK(of_status.back() == fake::Right{"operate", kOurs, "nodesmithclaims", "", ""});
    const std::string owned =
        R"({"metadata":{"name":"a","ownerReferences":[{"kind":"NodeSmithPool","blockOwnerDeletion":true}]}})";
    const auto of_claim = server.needed("POST", kClaims, owned);
    CHECK(of_claim.back() == fake::Right{"update", kOurs, "nodesmithpools/finalizers", "nodes", ""});
    CHECK(server.needed("POST", kClaims, R"({"metadata":{"name":"a"}})").size() == 1);

    const std::string requests = "certificatesigningrequests.certificates.k8s.io";
    server.store.create({requests, "", "a"},
                        {{"metadata", {{"name", "a"}}}, {"spec", {{"signerName", "of/kubelets"}}}});
    const auto of_approval =
        server.needed("PATCH", "/apis/certificates.k8s.io/v1/certificatesigningrequests/a/approval", "{}");
    CHECK(of_approval.back() == fake::Right{"approve", "certificates.k8s.io", "signers", "", "of/kubelets"});
}

TEST_CASE("an object that is applied needs the right to create it only while it is missing") {
    Server server;
    auto applied = request("PATCH", kClaims + "/a", "{}");
    applied.headers.set("Content-Type", "application/apply-patch+yaml");
    const auto create = fake::Right{"create", kOurs, "nodesmithclaims", "nodes", "a"};
    CHECK(fake::needed_rights(applied, server.store).back() == create);
    server.store.create({"nodesmithclaims." + kOurs, "nodes", "a"}, {{"metadata", {{"name", "a"}}}});
    CHECK(fake::needed_rights(applied, server.store).size() == 1);
}

TEST_CASE("a role grants its verbs where it is bound, and for the names that it states") {
    const auto rights = rights_of(R"(
kind: ClusterRole
metadata: {name: everywhere}
rules: [{apiGroups: [""], resources: [pods], verbs: [list]}]
---
kind: ClusterRole
metadata: {name: somewhere}
rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]
---
kind: Role
metadata: {name: named, namespace: public}
rules: [{apiGroups: [""], resources: [configmaps], resourceNames: [info], verbs: [get]}]
---
kind: ClusterRoleBinding
metadata: {name: everywhere}
roleRef: {kind: ClusterRole, name: everywhere}
---
kind: RoleBinding
metadata: {name: somewhere, namespace: nodes}
roleRef: {kind: ClusterRole, name: somewhere}
---
kind: RoleBinding
metadata: {name: named, namespace: public}
roleRef: {kind: Role, name: named}
)");
    CHECK(rights.allow({"list", "", "pods", "", ""}));
    CHECK(rights.allow({"list", "", "pods", "shop", ""}));
    CHECK_FALSE(rights.allow({"watch", "", "pods", "", ""}));
    CHECK(rights.allow({"get", "", "secrets", "nodes", "a"}));
    CHECK_FALSE(rights.allow({"get", "", "secrets", "shop", "a"}));
    CHECK_FALSE(rights.allow({"get", "", "secrets", "", ""}));
    CHECK(rights.allow({"get", "", "configmaps", "public", "info"}));
    CHECK_FALSE(rights.allow({"get", "", "configmaps", "public", "other"}));
}

TEST_CASE("a request that the shipped roles do not grant is refused and remembered") {
    Server server;
    Authorization authorization(server.store);
    CHECK_FALSE(authorization.refuse(request("GET", "/api/v1/nodes/a")));
    CHECK(authorization.missing().empty());
    const auto refusal = authorization.refuse(request("DELETE", "/api/v1/namespaces/a"));
    REQUIRE(refusal);
    CHECK(refusal->status == 403);
    CHECK(authorization.missing() == std::set<fake::Right>{{"delete", "", "namespaces", "", "a"}});
    CHECK(authorization.needed().contains({"get", "", "nodes", "", ""}));
}

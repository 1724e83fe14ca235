// Tests requests for certificates up to their approval, and questions about rights.
#include <boost/json/array.hpp>

#include "api/bytes.hpp"
#include "test/simulation/contract/kubernetes/objects.hpp"
#include "test/support/catch.hpp"

using namespace contract;

namespace {

const std::string kRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

// The request comes from the kubelet of Node worker-1.
constexpr const char* kRequest =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIHxMIGYAgEAMDYxFTATBgNVBAoTDHN5c3RlbTpub2RlczEdMBsGA1UEAxMUc3lz\n"
    "dGVtOm5vZGU6d29ya2VyLTEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQEU6Fy\n"
    "MruXE+J6R2MFfz/broPK2VW1fsDsAB3xdy44oJEXnQv1lYMqZNhTIlw6l6IlEi8u\n"
    "rIcseUqt2uelmyI9oAAwCgYIKoZIzj0EAwIDSAAwRQIgCX+26dNhRK7E+xA5NhuB\n"
    "JbGyfH2bKrV5UGItYKsScDMCIQDHbzmrRxDqBtVWDlEPeZyHkCHy2cOdsBiAE3OP\n"
    "F4C20Q==\n"
    "-----END CERTIFICATE REQUEST-----\n";

Answer create(const std::string& name, const std::string& signer) {
    const json::object body{
        {"apiVersion", "certificates.k8s.io/v1"},
        {"kind", "CertificateSigningRequest"},
        {"metadata", {{"name", name}}},
        {"spec", json::object{{"request", api::Bytes{kRequest}.str()},
                              {"signerName", signer},
                              {"usages", json::array{"digital signature", "client auth"}}}}};
    return server().call("POST", kRequests, body);
}

json::object condition(const std::string& type) {
    return {{"type", type}, {"status", "True"}, {"reason", "Test"}, {"message", "for a test"}};
}

json::object deciding(const std::string& type) {
    return {{"status", json::object{{"conditions", json::array{condition(type)}}}}};
}

std::size_t conditions_of(const Answer& answer) {
    const auto* status = answer.body.if_contains("status");
    const auto* all = status ? status->as_object().if_contains("conditions") : nullptr;
    return all ? all->as_array().size() : 0;
}

}  // namespace

TEST_CASE("a request for a certificate is decided through its approval subresource") {
    const auto name = server().fresh("request");
    // No component of a control plane approves requests for this signer.
    const auto signer = "example.com/" + name;
    const auto created = create(name, signer);
    REQUIRE(created.status == 201);
    CHECK(conditions_of(created) == 0);
    CHECK(conditions_of(server().call("PATCH", kRequests + "/" + name, deciding("Denied"), kMergePatch)) ==
          0);

    auto decision = deciding("Denied");
    decision["spec"] = {{"signerName", "example.com/other"}};
    decision["metadata"] = {{"resourceVersion", created.text("metadata", "resourceVersion")}};
    const auto denied = server().call("PATCH", kRequests + "/" + name + "/approval", decision, kMergePatch);
    CHECK(denied.status == 200);
    CHECK(denied.text("spec", "signerName") == signer);
    REQUIRE(conditions_of(denied) == 1);
    CHECK(denied.body.at("status").at("conditions").at(0).at("reason") == "Test");
    // A later patch does not overwrite the decision.
    CHECK(server().call("PATCH", kRequests + "/" + name + "/approval", decision, kMergePatch).status == 409);
}

TEST_CASE("nothing but a request for a certificate is approved") {
    const auto pods = "/api/v1/namespaces/default/pods/" + server().fresh("pod") + "/approval";
    CHECK(server().call("PATCH", pods, deciding("Approved"), kMergePatch).status == 404);
}

TEST_CASE("requests for certificates are selected by their signer") {
    const auto mark = server().fresh("signer");
    const auto signer = "example.com/" + mark;
    create(mark + "-1", signer);
    create(mark + "-2", "example.com/other");
    const auto found =
        server().call("GET", kRequests + "?fieldSelector=spec.signerName%3Dexample.com%2F" + mark);
    REQUIRE(found.body.at("items").as_array().size() == 1);
    CHECK(found.body.at("items").at(0).at("metadata").at("name").as_string() == mark + "-1");
}

TEST_CASE("a question about rights is answered and not kept") {
    const json::object question{
        {"apiVersion", "authorization.k8s.io/v1"},
        {"kind", "SubjectAccessReview"},
        {"spec", json::object{{"user", "system:bootstrap:000000"},
                              {"groups", json::array{"system:authenticated"}},
                              {"resourceAttributes", json::object{{"group", "certificates.k8s.io"},
                                                                  {"resource", "certificatesigningrequests"},
                                                                  {"subresource", "nodeclient"},
                                                                  {"verb", "create"}}}}}};
    const auto answer = server().call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", question);
    CHECK(answer.status == 201);
    CHECK(answer.body.at("status").at("allowed") == false);
    CHECK(answer.text("spec", "user") == "system:bootstrap:000000");
}

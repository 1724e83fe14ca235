// The in-memory API server answers as kube-apiserver does; the contracts here are Kubernetes' own.
#include "test/support/fake_api_server.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "api/core.hpp"
#include "api/v1alpha1/claim.hpp"
#include "base/virtual_clock.hpp"
#include "test/support/catch.hpp"
#include "test/support/run_coroutine.hpp"

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;

const std::string kClaims = "/apis/kubenodesmith.parawell.cloud/v1alpha1/namespaces/default/nodesmithclaims";
const std::string kMerge = "application/merge-patch+json";

struct Cluster {
    asio::io_context context;
    base::VirtualClock clock;
    fake::ApiServer server{context.get_executor(), clock};
    std::unique_ptr<base::HttpTransport> transport = server.connect();

    std::pair<int, json::value> call(const std::string& method, const std::string& target,
                                     const std::string& body = "",
                                     const std::string& type = "application/json") {
        base::HttpRequest request;
        request.method = method;
        request.target = target;
        request.body = body;
        request.headers.set("Content-Type", type);
        auto response = test::run(context, clock, transport->send(std::move(request)));
        return {response.status, json::parse(response.body)};
    }
    std::unique_ptr<base::HttpStream> watch(const std::string& target, base::Duration timeout = 5min) {
        base::HttpRequest request;
        request.target = target;
        request.timeout = timeout;
        return test::run(context, clock, transport->open(std::move(request)));
    }
    // The types and names of the events that are there.
    std::string next(base::HttpStream& stream) {
        auto piece = test::run(context, clock, stream.read());
        if (!piece) return "end";
        std::string text;
        for (std::size_t at = 0; at < piece->size();) {
            auto end = piece->find('\n', at);
            auto event = json::parse(piece->substr(at, end - at)).as_object();
            text += (text.empty() ? "" : " ") + std::string(event["type"].as_string());
            const auto& object = event["object"].as_object();
            if (const auto* metadata = object.if_contains("metadata")) {
                if (const auto* name = metadata->as_object().if_contains("name")) {
                    text += ":" + std::string(name->as_string());
                }
            }
            at = end + 1;
        }
        return text;
    }
};

std::string claim_json(const std::string& name, const std::string& more = "") {
    return R"({"kind":"NodeSmithClaim","metadata":{"name":")" + name + "\"" + more +
           R"(},"spec":{"poolRef":"p"}})";
}

std::string text(const json::value& value, const char* pointer) {
    return std::string(value.at_pointer(pointer).as_string());
}

TEST_CASE("creating an object gives it identity and ignores a status of a kind with that subresource") {
    Cluster cluster;
    auto [code, created] = cluster.call(
        "POST", kClaims, R"({"metadata":{"name":"a"},"spec":{"poolRef":"p"},"status":{"host":"x"}})");
    CHECK(code == 201);
    CHECK(text(created, "/metadata/namespace") == "default");
    CHECK_FALSE(text(created, "/metadata/uid").empty());
    CHECK(created.at_pointer("/metadata/generation").as_int64() == 1);
    CHECK_FALSE(created.as_object().contains("status"));

    auto [again, refusal] = cluster.call("POST", kClaims, claim_json("a"));
    CHECK(again == 409);
    CHECK(text(refusal, "/reason") == "AlreadyExists");
    CHECK(cluster.call("GET", kClaims + "/nobody").first == 404);
}

TEST_CASE("generateName makes a new name each time") {
    Cluster cluster;
    std::string body = R"({"metadata":{"generateName":"pool-"},"spec":{}})";
    auto first = text(cluster.call("POST", kClaims, body).second, "/metadata/name");
    auto second = text(cluster.call("POST", kClaims, body).second, "/metadata/name");
    CHECK(first.starts_with("pool-"));
    CHECK(first != second);
}

TEST_CASE("a merge patch changes what it names, and the status only through its subresource") {
    Cluster cluster;
    cluster.call("POST", kClaims, claim_json("a", R"(,"labels":{"keep":"1","drop":"2"})"));
    auto patched =
        cluster.call("PATCH", kClaims + "/a",
                     R"({"metadata":{"labels":{"drop":null,"new":"3"}},"status":{"host":"x"}})", kMerge);
    CHECK(patched.first == 200);
    CHECK(json::serialize(patched.second.at_pointer("/metadata/labels")) == R"({"keep":"1","new":"3"})");
    CHECK_FALSE(patched.second.as_object().contains("status"));

    auto status = cluster.call("PATCH", kClaims + "/a/status",
                               R"({"metadata":{"labels":{"keep":"9"}},"status":{"host":"x"}})", kMerge);
    CHECK(text(status.second, "/status/host") == "x");
    CHECK(text(status.second, "/metadata/labels/keep") == "1");
    CHECK(status.second.at_pointer("/metadata/generation").as_int64() == 1);
}

TEST_CASE("a patch with an outdated resourceVersion conflicts, one that changes nothing writes nothing") {
    Cluster cluster;
    auto created = cluster.call("POST", kClaims, claim_json("a")).second;
    auto version = text(created, "/metadata/resourceVersion");
    auto body = R"({"metadata":{"resourceVersion":")" + version + R"("},"status":{"host":"x"}})";
    auto first = cluster.call("PATCH", kClaims + "/a/status", body, kMerge);
    CHECK(first.first == 200);
    auto [code, refusal] = cluster.call("PATCH", kClaims + "/a/status", body, kMerge);
    CHECK(code == 409);
    CHECK(text(refusal, "/reason") == "Conflict");
    auto idle = cluster.call("PATCH", kClaims + "/a/status", R"({"status":{"host":"x"}})", kMerge);
    CHECK(text(idle.second, "/metadata/resourceVersion") == text(first.second, "/metadata/resourceVersion"));
}

TEST_CASE("an object with a finalizer is deleted when the last one is removed") {
    Cluster cluster;
    cluster.call("POST", kClaims, claim_json("a", R"(,"finalizers":["x/a","x/b"])"));
    auto deleted = cluster.call("DELETE", kClaims + "/a");
    CHECK(deleted.first == 200);
    CHECK(deleted.second.at_pointer("/metadata").as_object().contains("deletionTimestamp"));

    auto wrong = R"([{"op":"test","path":"/metadata/finalizers/0","value":"x/b"},
                     {"op":"remove","path":"/metadata/finalizers/0"}])";
    CHECK(cluster.call("PATCH", kClaims + "/a", wrong, "application/json-patch+json").first == 422);
    auto right = R"([{"op":"test","path":"/metadata/finalizers/0","value":"x/a"},
                     {"op":"remove","path":"/metadata/finalizers/0"}])";
    CHECK(cluster.call("PATCH", kClaims + "/a", right, "application/json-patch+json").first == 200);
    CHECK(
        cluster.call("PATCH", kClaims + "/a", R"({"metadata":{"finalizers":["x/c","x/b"]}})", kMerge).first ==
        422);
    CHECK(cluster.call("GET", kClaims + "/a").first == 200);
    CHECK(cluster.call("PATCH", kClaims + "/a", R"({"metadata":{"finalizers":null}})", kMerge).first == 200);
    CHECK(cluster.call("GET", kClaims + "/a").first == 404);
}

TEST_CASE("deleting is refused if a precondition does not hold") {
    Cluster cluster;
    cluster.call("POST", kClaims, claim_json("a"));
    CHECK(cluster.call("DELETE", kClaims + "/a", R"({"preconditions":{"uid":"other"}})").first == 409);
    CHECK(cluster.call("GET", kClaims + "/a").first == 200);
}

TEST_CASE("what an object owned goes with it") {
    Cluster cluster;
    auto owner = cluster.call("POST", kClaims, claim_json("owner")).second;
    auto reference = R"(,"ownerReferences":[{"uid":")" + text(owner, "/metadata/uid") + R"("}])";
    cluster.call("POST", kClaims, claim_json("owned", reference));
    cluster.call("POST", kClaims, claim_json("held", reference + R"(,"finalizers":["x/a"])"));
    cluster.call("DELETE", kClaims + "/owner");
    CHECK(cluster.call("GET", kClaims + "/owned").first == 404);
    CHECK(cluster.call("GET", kClaims + "/held")
              .second.at_pointer("/metadata")
              .as_object()
              .contains("deletionTimestamp"));
}

TEST_CASE("a list comes in pages of one state") {
    Cluster cluster;
    for (const char* name : {"a", "b", "c"}) cluster.call("POST", kClaims, claim_json(name));
    auto first = cluster.call("GET", kClaims + "?limit=2").second;
    CHECK(first.at_pointer("/items").as_array().size() == 2);
    cluster.call("DELETE", kClaims + "/c");
    auto token = text(first, "/metadata/continue");
    auto second = cluster.call("GET", kClaims + "?limit=2&continue=" + token).second;
    CHECK(second.at_pointer("/items").as_array().size() == 1);
    CHECK(text(second, "/metadata/resourceVersion") == text(first, "/metadata/resourceVersion"));
    CHECK(cluster.call("GET", kClaims + "?limit=2&continue=" + token).first == 410);
}

TEST_CASE("selectors choose by labels and fields") {
    Cluster cluster;
    cluster.call("POST", kClaims, claim_json("a", R"(,"labels":{"tier":"x"})"));
    cluster.call("POST", kClaims, claim_json("b", R"(,"labels":{"tier":"y"})"));
    auto count = [&cluster](const std::string& query) {
        return cluster.call("GET", kClaims + "?" + query).second.at_pointer("/items").as_array().size();
    };
    CHECK(count("labelSelector=tier%3Dx") == 1);
    CHECK(count("labelSelector=tier%20in%20(x,y)") == 2);
    CHECK(count("labelSelector=tier%20notin%20(x)") == 1);
    CHECK(count("labelSelector=!tier") == 0);
    CHECK(count("labelSelector=tier,tier!%3Dx") == 1);
    CHECK(count("fieldSelector=metadata.name%3Db") == 1);
    CHECK(count("fieldSelector=status.phase!%3DFailed,spec.poolRef%3Dp") == 2);
}

TEST_CASE("a watch goes on from a resourceVersion and shows objects enter and leave its selection") {
    Cluster cluster;
    auto first = cluster.call("POST", kClaims, claim_json("a", R"(,"labels":{"tier":"x"})")).second;
    cluster.call("POST", kClaims, claim_json("b"));
    auto stream = cluster.watch(kClaims + "?watch=1&labelSelector=tier%3Dx&resourceVersion=" +
                                text(first, "/metadata/resourceVersion"));
    cluster.call("PATCH", kClaims + "/b", R"({"metadata":{"labels":{"tier":"x"}}})", kMerge);
    CHECK(cluster.next(*stream) == "ADDED:b");
    cluster.call("PATCH", kClaims + "/b", R"({"status":{}, "metadata":{"labels":{"more":"x"}}})", kMerge);
    cluster.call("PATCH", kClaims + "/a", R"({"metadata":{"labels":{"tier":"y"}}})", kMerge);
    CHECK(cluster.next(*stream) == "MODIFIED:b DELETED:a");
    cluster.server.cut_watches();
    CHECK(cluster.next(*stream) == "end");
}

TEST_CASE("a watch from before the compaction gets 410, one with initial events ends them with a bookmark") {
    Cluster cluster;
    auto first = cluster.call("POST", kClaims, claim_json("a")).second;
    cluster.call("POST", kClaims, claim_json("b"));
    cluster.server.store().compact(cluster.server.store().version());
    auto late =
        cluster.watch(kClaims + "?watch=true&resourceVersion=" + text(first, "/metadata/resourceVersion"));
    auto piece = test::run(cluster.context, cluster.clock, late->read());
    CHECK(json::parse(*piece).at_pointer("/object/code").as_int64() == 410);

    auto streamed = cluster.watch(kClaims + "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true");
    CHECK(cluster.next(*streamed) == "ADDED:a ADDED:b BOOKMARK");
    cluster.call("POST", kClaims, claim_json("c"));
    CHECK(cluster.next(*streamed) == "ADDED:c");
    CHECK(cluster.next(*streamed) == "BOOKMARK");  // a minute later
}

TEST_CASE("a watch ends after its timeout and fails when nothing comes for too long") {
    Cluster cluster;
    auto begin = cluster.clock.now();
    auto bounded = cluster.watch(kClaims + "?watch=1&timeoutSeconds=30");
    CHECK(cluster.next(*bounded) == "end");
    CHECK(cluster.clock.now() - begin >= 30s);
    auto silent = cluster.watch(kClaims + "?watch=1", 10s);
    CHECK_THROWS_AS(cluster.next(*silent), base::TransportError);
}

api::Pod running_pod(const std::string& name) {
    api::Pod pod;
    pod.metadata.name = name;
    pod.metadata.namespace_ = "default";
    pod.metadata.labels["app"] = "web";
    pod.spec.nodeName = "node-1";
    pod.status.phase = api::PodPhase::Running;
    return pod;
}

TEST_CASE("an eviction spends the budget, is refused without one, and the pod ends gracefully") {
    Cluster cluster;
    cluster.server.put(running_pod("one"));
    cluster.server.put(running_pod("two"));
    api::PodDisruptionBudget budget;
    budget.metadata.name = "web";
    budget.metadata.namespace_ = "default";
    budget.spec.selector = api::LabelSelector{{{"app", "web"}}, {}};
    budget.status.disruptionsAllowed = 1;
    budget.status.desiredHealthy = 1;
    cluster.server.put(budget);

    const std::string pods = "/api/v1/namespaces/default/pods/";
    CHECK(cluster.call("POST", pods + "one/eviction", R"({"deleteOptions":{"preconditions":{"uid":"x"}}})")
              .first == 409);
    CHECK(cluster.call("POST", pods + "one/eviction", "{}").first == 201);
    CHECK(cluster.server.get<api::Pod>({"default", "one"})->metadata.deletionTimestamp.has_value());
    auto [code, refusal] = cluster.call("POST", pods + "two/eviction", "{}");
    CHECK(code == 429);
    CHECK(text(refusal, "/details/causes/0/reason") == "DisruptionBudget");
    cluster.clock.run_for(cluster.context, 2s);
    CHECK_FALSE(cluster.server.get<api::Pod>({"default", "one"}));
    CHECK(cluster.server.get<api::Pod>({"default", "two"}));
    CHECK(cluster.call("POST", pods + "nobody/eviction", "{}").first == 404);
}

}  // namespace

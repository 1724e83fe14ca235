// Tests what the in-memory API server does beside its API. test/simulation/contract compares the API with a
// real server.
#include "test/support/fake_api_server.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "api/core.hpp"
#include "api/v1alpha1/claim.hpp"
#include "test/support/catch.hpp"
#include "test/support/pods.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/support/virtual_clock.hpp"

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;

const std::string kClaims = "/apis/kubenodesmith.parawell.cloud/v1alpha1/namespaces/default/nodesmithclaims";

struct Cluster {
    asio::io_context context;
    fake::VirtualClock clock;
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
    // Returns the types and names of the events that have arrived.
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

std::string claim_json(const std::string& name) {
    return R"({"kind":"NodeSmithClaim","metadata":{"name":")" + name + R"("},"spec":{"poolRef":"p"}})";
}

std::string text(const json::value& value, const char* pointer) {
    return std::string(value.at_pointer(pointer).as_string());
}

TEST_CASE("watches are cut as by a server that restarts") {
    Cluster cluster;
    auto first = cluster.call("POST", kClaims, claim_json("a")).second;
    auto version = text(first, "/metadata/resourceVersion");
    auto stream = cluster.watch(kClaims + "?watch=1&resourceVersion=" + version);
    cluster.call("POST", kClaims, claim_json("b"));
    CHECK(cluster.next(*stream) == "ADDED:b");
    cluster.server.cut_watches();
    CHECK(cluster.next(*stream) == "end");
}

TEST_CASE("a watch says each minute how far it has come, and fails when nothing comes for too long") {
    Cluster cluster;
    auto stream = cluster.watch(kClaims + "?watch=1&allowWatchBookmarks=true&labelSelector=mine");
    cluster.call("POST", kClaims, claim_json("a"));
    auto begin = cluster.clock.now();
    CHECK(cluster.next(*stream) == "BOOKMARK");
    CHECK(cluster.clock.now() - begin <= 1min);
    auto silent = cluster.watch(kClaims + "?watch=1&labelSelector=mine", 10s);
    CHECK_THROWS_AS(cluster.next(*silent), base::TransportError);
}

api::Pod running_pod(const std::string& name) {
    return builders::a_pod(name).label("app", "web").on("node-1");
}

TEST_CASE("a budget is spent at most as often as it allows, and pods that were evicted end by themselves") {
    Cluster cluster;
    cluster.server.put(running_pod("one"));
    cluster.server.put(running_pod("two"));
    auto budget = builders::a_budget("web", 1);
    budget.spec.selector = api::LabelSelector{{{"app", "web"}}, {}};
    budget.status.observedGeneration = 0;
    budget.status.desiredHealthy = 1;
    cluster.server.put(budget);

    const std::string pods = "/api/v1/namespaces/default/pods/";
    auto [unseen, waiting] = cluster.call("POST", pods + "one/eviction", "{}");
    CHECK(unseen == 429);
    CHECK(waiting.at_pointer("/details/retryAfterSeconds") == 10);
    cluster.server.edit<api::PodDisruptionBudget>(
        {"default", "web"}, [](auto& seen) { seen.status.observedGeneration = seen.metadata.generation; });
    CHECK(cluster.call("POST", pods + "one/eviction", "{}").first == 201);
    CHECK(cluster.server.get<api::Pod>({"default", "one"})->metadata.deletionTimestamp.has_value());
    auto [spent, refusal] = cluster.call("POST", pods + "two/eviction", "{}");
    CHECK(spent == 429);
    CHECK(text(refusal, "/details/causes/0/reason") == "DisruptionBudget");
    cluster.clock.run_for(cluster.context, 2s);
    CHECK_FALSE(cluster.server.get<api::Pod>({"default", "one"}));
    CHECK(cluster.server.get<api::Pod>({"default", "two"}));
}

}  // namespace

#include "kube/client.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <deque>

#include "api/core.hpp"
#include "api/v1alpha1/pool.hpp"
#include "base/task_group.hpp"
#include "kube/slow_answers.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/run_coroutine.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Scripted sends the test's answers in order and records the requests.
class Scripted final : public base::HttpTransport {
public:
    explicit Scripted(base::Clock& clock) : clock_(clock) {}
    std::deque<base::HttpResponse> answers;
    std::vector<base::HttpRequest> requests;
    base::Duration delay{};
    bool is_cut = false;  // the connection ends after the delay, without an answer
    int at_once = 0;
    int most_at_once = 0;
    std::size_t piece = 0;  // the size of the pieces in which lists arrive; 0: they arrive as a whole
    std::size_t cut_after = std::string::npos;  // the connection ends after so many bytes of a list
    std::size_t largest = 0;                    // the most of a list that was held at once

    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        most_at_once = std::max(most_at_once, ++at_once);
        requests.push_back(std::move(request));
        if (delay > 0s) co_await clock_.sleep_for(delay);
        --at_once;
        if (is_cut) throw base::TransportError("connection reset", true);
        auto answer = std::move(answers.front());
        answers.pop_front();
        const auto& taker = requests.back().on_body;
        if (piece > 0 && taker && answer.status == 200) {
            const auto body = std::exchange(answer.body, "");
            const auto end = std::min(body.size(), cut_after);
            for (std::size_t at = 0; at < end; at += piece) {
                const auto part = body.substr(at, std::min(piece, end - at));
                largest = std::max(largest, part.size());
                taker(part);
            }
            if (end < body.size()) throw base::TransportError("connection reset", true);
        }
        largest = std::max(largest, answer.body.size());
        co_return answer;
    }
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest) override { co_return nullptr; }

private:
    base::Clock& clock_;
};

base::HttpResponse answer(int status, std::string body) {
    base::HttpResponse response;
    response.status = status;
    response.body = std::move(body);
    return response;
}

const std::string kPod = R"({"kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"u1"}})";

struct Fixture {
    asio::io_context context{1};
    fake::VirtualClock clock;
    base::MetricsRegistry metrics;
    Scripted* wire = nullptr;
    std::unique_ptr<kube::Client> client;

    Fixture() {
        auto transport = std::make_unique<Scripted>(clock);
        wire = transport.get();
        client = std::make_unique<kube::Client>(std::move(transport), clock, metrics, 2);
    }
    template <class T>
    T run(asio::awaitable<T> work) {
        return test::run(context, clock, std::move(work));
    }
    template <class T>
    std::optional<kube::ApiError> error(asio::awaitable<T> work) {
        try {
            run(std::move(work));
        } catch (const kube::ApiError& refusal) {
            return refusal;
        }
        return std::nullopt;
    }
};

}  // namespace

TEST_CASE("paths follow the API's conventions") {
    const api::Resource claims{"example.io", "v1alpha1", "claims", "Claim"};
    CHECK(kube::path_of(api::Pod::kResource, {"n", "p"}) == "/api/v1/namespaces/n/pods/p");
    CHECK(kube::path_of(api::Pod::kResource, {"", ""}) == "/api/v1/pods");
    CHECK(kube::path_of(api::Node::kResource, {"", "a"}) == "/api/v1/nodes/a");
    CHECK(kube::path_of(claims, {"n", "c"}, "status") ==
          "/apis/example.io/v1alpha1/namespaces/n/claims/c/status");
    kube::ListOptions options;
    options.namespace_ = "n";
    options.field_selector = "status.phase!=Failed";
    CHECK(kube::list_target(claims, options, "limit=5") ==
          "/apis/example.io/v1alpha1/namespaces/n/claims?fieldSelector=status.phase%21%3DFailed&limit=5");
}

TEST_CASE_METHOD(Fixture, "an object that is not there is no error, a kind that is not served is one") {
    wire->answers.push_back(fake::status_response(404, "NotFound", "pods \"p\" not found"));
    CHECK_FALSE(run(client->get<api::Pod>({"n", "p"})));
    wire->answers.push_back(
        fake::status_response(404, "NotFound", "the server could not find the requested resource"));
    CHECK(error(client->get<api::Pod>({"n", "p"})).value().is_not_found());
    wire->answers.push_back(answer(404, "404 page not found\n"));
    CHECK(error(client->get<api::Pod>({"n", "p"})).value().message == "404 page not found\n");
}

TEST_CASE_METHOD(Fixture, "a refusal says which verb on which object and in the server's words") {
    wire->answers.push_back(fake::status_response(403, "Forbidden", "pods is forbidden"));
    auto refusal = error(client->create(api::decode<api::Pod>(boost::json::parse(kPod)))).value();
    CHECK(std::string(refusal.what()) == "POST /api/v1/namespaces/n/pods: 403 Forbidden: pods is forbidden");
    CHECK(refusal.reason == "Forbidden");
    wire->answers.push_back(answer(502, "<html>bad gateway</html>"));
    CHECK(error(client->remove<api::Pod>({"n", "p"})).value().code == 502);
}

TEST_CASE_METHOD(Fixture,
                 "a JSON patch that somebody overtook is a conflict, an object that breaks a rule is not") {
    kube::Patch patch;
    patch.type = kube::Patch::Type::json;
    patch.body = boost::json::array();
    wire->answers.push_back(fake::status_response(
        422, "Invalid", "the server rejected our request due to an error in our request"));
    auto overtaken = error(client->patch<api::Pod>({"n", "p"}, patch)).value();
    CHECK(overtaken.is_conflict());
    CHECK(std::string(overtaken.what()).find("422") != std::string::npos);  // contains the server's own words
    wire->answers.push_back(
        fake::status_response(422, "Invalid", "Pod \"p\" is invalid: spec: Required value"));
    auto invalid = error(client->patch<api::Pod>({"n", "p"}, patch)).value();
    CHECK_FALSE(invalid.is_conflict());
    CHECK(invalid.code == 422);
}

TEST_CASE_METHOD(Fixture, "an answer that does not fit is a failure that says where") {
    wire->answers.push_back(answer(200, R"({"metadata":{"name":7}})"));
    CHECK_THROWS_WITH(
        run(client->get<api::Pod>({"n", "p"})),
        Catch::StartsWith("GET /api/v1/namespaces/n/pods/p: cannot decode the answer: /metadata/name"));
    wire->answers.push_back(answer(200, "not json"));
    CHECK_THROWS_WITH(run(client->get<api::Pod>({"n", "p"})), Catch::Contains("not a JSON document"));
}

TEST_CASE_METHOD(Fixture, "an overloaded server is left alone for as long as it asks, then asked again") {
    auto busy = answer(429, "Too many requests, please try again later.");
    busy.headers.set("Retry-After", "2");
    const auto start = clock.now();
    SECTION("and again, and then obeyed") {
        wire->answers = {busy, busy, answer(200, kPod)};
        CHECK(run(client->get<api::Pod>({"n", "p"})));
        CHECK(clock.now() - start >= 4s);
        CHECK(wire->requests.size() == 3);
    }
    SECTION("but not for ever") {
        wire->answers = {busy, busy, busy, busy};
        auto refusal = error(client->get<api::Pod>({"n", "p"})).value();
        CHECK(refusal.code == 429);
        CHECK(refusal.retry_after == 2s);
    }
    SECTION("nor if that is very long") {
        busy.headers.set("Retry-After", "3600");
        wire->answers = {busy};
        CHECK(error(client->get<api::Pod>({"n", "p"})).value().retry_after == 3600s);
    }
}

TEST_CASE_METHOD(Fixture, "a write that a server in trouble may have done is not repeated") {
    auto trouble = fake::status_response(503, "ServiceUnavailable", "leader changed");
    trouble.headers.set("Retry-After", "1");
    wire->answers = {trouble};
    CHECK(error(client->remove<api::Pod>({"n", "p"})).value().code == 503);
    CHECK(wire->requests.size() == 1);
    wire->answers = {trouble, answer(200, kPod)};
    CHECK(run(client->get<api::Pod>({"n", "p"})));
}

TEST_CASE_METHOD(Fixture, "a write whose connection is cut after a long wait counts as unanswered") {
    wire->is_cut = true;
    wire->delay = 20s;
    const auto late = error(client->remove<api::Pod>({"n", "p"}));
    REQUIRE(late);
    CHECK(kube::is_unanswered(*late));
    CHECK_THAT(late->message, Catch::Contains("within 20 s"));
    // Nothing may have hung where the connection was cut at once, or where only an answer was read.
    CHECK_THROWS_AS(run(client->get<api::Pod>({"n", "p"})), base::TransportError);
    wire->delay = 1s;
    CHECK_THROWS_AS(run(client->remove<api::Pod>({"n", "p"})), base::TransportError);
}

TEST_CASE_METHOD(Fixture, "no more calls are in flight than allowed") {
    wire->delay = 1s;
    base::TaskGroup group(context.get_executor());
    int done = 0;
    const kube::ObjectKey key{"n", "p"};
    auto one = [&]() -> asio::awaitable<void> {
        co_await client->get<api::Pod>(key);
        ++done;
    };
    for (int i = 0; i < 5; ++i) {
        wire->answers.push_back(answer(200, kPod));
        group.spawn(one());
    }
    clock.run_for(context, 2500ms);
    CHECK(done == 4);
    clock.run_for(context, 1s);
    CHECK(done == 5);
    CHECK(wire->most_at_once == 2);
}

TEST_CASE_METHOD(Fixture, "patches name their type, their manager and only what changed") {
    auto before = api::decode<api::Pod>(boost::json::parse(kPod));
    before.metadata.resourceVersion = "7";
    auto after = before;
    CHECK_FALSE(kube::difference(before, after, kube::Lock::resource_version));
    after.metadata.labels["a"] = "b";
    auto patch = kube::difference(before, after, kube::Lock::resource_version).value();
    wire->answers.push_back(answer(200, kPod));
    run(client->patch<api::Pod>({"n", "p"}, patch));
    const auto& request = wire->requests.back();
    CHECK(request.method == "PATCH");
    CHECK(request.target == "/api/v1/namespaces/n/pods/p?fieldManager=kubenodesmith");
    CHECK(request.headers.find("Content-Type") == "application/merge-patch+json");
    CHECK(request.body == R"({"metadata":{"labels":{"a":"b"},"resourceVersion":"7"}})");

    patch.type = kube::Patch::Type::apply;
    wire->answers.push_back(answer(200, kPod));
    run(client->patch_status<api::Pod>({"n", "p"}, patch));
    CHECK(wire->requests.back().target ==
          "/api/v1/namespaces/n/pods/p/status?fieldManager=kubenodesmith&force=true");
    CHECK(wire->requests.back().headers.find("Content-Type") == "application/apply-patch+yaml");
}

TEST_CASE_METHOD(Fixture, "a deletion carries its preconditions") {
    api::Preconditions same;
    same.uid = "u1";
    same.resourceVersion = "7";
    wire->answers = {answer(200, "{}")};
    CHECK(run(client->remove<api::Pod>({"n", "p"}, same)));
    CHECK(boost::json::parse(wire->requests.back().body) ==
          boost::json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions",
                                 "preconditions":{"uid":"u1","resourceVersion":"7"}})"));
    wire->answers = {fake::status_response(409, "Conflict", "the UID in the precondition does not match")};
    CHECK(error(client->remove<api::Pod>({"n", "p"}, same)).value().is_conflict());
    wire->answers = {fake::status_response(404, "NotFound", "pods \"p\" not found")};
    CHECK_FALSE(run(client->remove<api::Pod>({"n", "p"})));
}

TEST_CASE_METHOD(Fixture, "pages are gathered, and read anew once if they expire half-way") {
    const auto page = [](const char* name, const std::string& token) {
        return answer(
            200, std::string(R"({"kind":"PodList","metadata":{"resourceVersion":"5","continue":")") + token +
                     R"("},"items":[{"metadata":{"name":")" + name + R"("}}]})");
    };
    auto expired = fake::status_response(410, "Expired", "the continue token is too old");
    SECTION("in peace") {
        wire->answers = {page("a", "t/1"), page("b", "")};
        CHECK(run(client->list<api::Pod>({})).objects.size() == 2);
        // A page has to arrive in time, and others write objects of a MiB.
        CHECK(wire->requests[1].target == "/api/v1/pods?limit=50&continue=t%2F1");
    }
    SECTION("no more than the first, where that is enough") {
        wire->answers = {page("a", "t/1")};
        kube::ListOptions options;
        options.first_page_only = true;
        CHECK(run(client->list<api::Pod>(std::move(options))).objects.size() == 1);
    }
    SECTION("expired once") {
        wire->answers = {page("a", "t"), expired, page("a", "t"), page("b", "")};
        CHECK(run(client->list<api::Pod>({})).objects.size() == 2);
    }
    SECTION("an object that cannot be decoded is named beside the others") {
        wire->answers = {answer(200, R"({"metadata":{"resourceVersion":"5"},"items":[
            {"metadata":{"name":"a"}},{"metadata":{"name":"b","uid":"u"},"spec":{"nodeName":"n","containers":1}}]})")};
        const auto listed = run(client->list<api::Pod>({}));
        CHECK(listed.objects.size() == 1);
        REQUIRE(listed.undecodable.size() == 1);
        CHECK(listed.undecodable[0].rest.metadata.uid == "u");
        CHECK(listed.undecodable[0].rest.spec.nodeName == "n");
        CHECK(listed.undecodable[0].error == "/spec/containers: expected an array");
        CHECK(listed.existing().size() == 2);
    }
    SECTION("what is no list is none") {
        wire->answers = {answer(200, R"({"kind":"Status"})")};
        CHECK_THROWS_WITH(run(client->list<api::Pod>({})), Catch::Contains("it is not a list"));
    }
    SECTION("expired twice") {
        wire->answers = {page("a", "t"), expired, page("a", "t"), expired};
        CHECK(error(client->list<api::Pod>({})).value().is_expired());
    }
}

TEST_CASE_METHOD(Fixture, "a page is read as it arrives, and never held as a whole") {
    wire->piece = 1000;
    std::string items;
    for (int i = 0; i < 50; ++i) {
        items += (i > 0 ? "," : "") + std::string(R"({"metadata":{"name":")") + std::to_string(i) +
                 R"(","annotations":{"a":")" + std::string(100'000, 'x') + R"("}},"spec":{"containers":)" +
                 (i == 7 ? "1" : "[]") + "}}";
    }
    const auto page = [&items](const std::string& token) {
        return answer(200, R"({"kind":"PodList","metadata":{"resourceVersion":"5","continue":")" + token +
                               R"("},"items":[)" + items + "]}");
    };
    SECTION("nor does one undecodable object fail it") {
        wire->answers = {page("t"), page("")};
        const auto listed = run(client->list<api::Pod>({}));
        CHECK(listed.objects.size() == 98);
        REQUIRE(listed.undecodable.size() == 2);
        CHECK(listed.undecodable[0].rest.metadata.name == "7");
        CHECK(wire->largest == 1000);
    }
    SECTION("and is read anew with all others if a later one expires") {
        auto expired = fake::status_response(410, "Expired", "the continue token is too old");
        wire->answers = {page("t"), expired, page("")};
        CHECK(run(client->list<api::Pod>({})).existing().size() == 50);
    }
    SECTION("and the server is asked again if it was busy") {
        auto busy = answer(429, "Too many requests, please try again later.");
        busy.headers.set("Retry-After", "2");
        wire->answers = {busy, page("")};
        CHECK(run(client->list<api::Pod>({})).existing().size() == 50);
    }
    SECTION("and one that is cut is the failure of the connection, not a shorter list") {
        wire->answers = {page(""), page("")};
        wire->cut_after = 2'000'000;
        CHECK_THROWS_AS(run(client->list<api::Pod>({})), base::TransportError);
        wire->cut_after = std::string::npos;
        CHECK(run(client->list<api::Pod>({})).existing().size() == 50);
    }
    SECTION("and what is no JSON is a failure that says where") {
        wire->answers = {answer(200, std::string(5'000, 'x'))};
        CHECK_THROWS_WITH(run(client->list<api::Pod>({})),
                          Catch::StartsWith("GET /api/v1/pods: cannot decode the answer: "));
    }
}

TEST_CASE_METHOD(Fixture,
                 "of an object of the operator's own kinds, a list keeps a part of what others added") {
    std::string labels;
    std::string annotations;
    for (int i = 0; i < 10'000; ++i) {
        labels += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":\"" + std::string(50, 'x') + "\"";
        annotations += (i > 0 ? ",\"a-" : "\"a-") + std::to_string(i) + "\":\"x\"";
    }
    wire->answers = {answer(
        200, R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a","labels":{)" + labels +
                 R"(},"annotations":{"kubenodesmith.io/force":"true",)" + annotations + "}}}]}")};
    const auto pools = run(client->list<api::v1alpha1::NodeSmithPool>({})).objects;
    REQUIRE(pools.size() == 1);
    CHECK(api::heap_bytes(pools.front().metadata) < 20'000);
    CHECK(pools.front().metadata.annotations.size() == 1);
    CHECK(wire->requests[0].target.ends_with("?limit=50"));
}

TEST_CASE_METHOD(Fixture, "an eviction ends in one of three ways") {
    const kube::ObjectKey pod{"n", "p"};
    SECTION("evicted, with the UID and grace period asked for") {
        wire->answers = {answer(201, R"({"kind":"Status","status":"Success"})")};
        CHECK(std::holds_alternative<kube::Evicted>(run(client->evict(pod, "u1", 30s))));
        CHECK(wire->requests.back().target == "/api/v1/namespaces/n/pods/p/eviction");
        CHECK(boost::json::parse(wire->requests.back().body) ==
              boost::json::parse(R"({"apiVersion":"policy/v1","kind":"Eviction",
                  "metadata":{"name":"p","namespace":"n"},
                  "deleteOptions":{"gracePeriodSeconds":30,"preconditions":{"uid":"u1"}}})"));
    }
    SECTION("blocked by a budget, at once and without trying again") {
        boost::json::object details{{"causes", boost::json::array{boost::json::object{
                                                   {"reason", "DisruptionBudget"}, {"message", "web"}}}},
                                    {"retryAfterSeconds", 10}};
        wire->answers = {fake::status_response(429, "TooManyRequests", "would violate the budget", details)};
        auto blocked = std::get<kube::BlockedByBudget>(run(client->evict(pod, "u1", std::nullopt)));
        CHECK(blocked.message == "would violate the budget");
        CHECK(blocked.retry_after == 10s);
        REQUIRE(blocked.causes.size() == 1);
        CHECK(blocked.causes.front().message == "web");
        CHECK_FALSE(blocked.has_several_budgets);
    }
    SECTION("blocked by two budgets, which nobody but a person can mend") {
        wire->answers = {fake::status_response(500, "InternalError",
                                               "This pod has more than one PodDisruptionBudget, which the "
                                               "eviction subresource does not support.")};
        auto blocked = std::get<kube::BlockedByBudget>(run(client->evict(pod, "u1", std::nullopt)));
        CHECK(blocked.has_several_budgets);
    }
    SECTION("not there, or another pod of that name") {
        wire->answers = {
            fake::status_response(404, "NotFound", "pods \"p\" not found"),
            fake::status_response(409, "Conflict", "the UID in the precondition does not match")};
        CHECK(std::holds_alternative<kube::PodNotFound>(run(client->evict(pod, "u1", std::nullopt))));
        CHECK(std::holds_alternative<kube::PodNotFound>(run(client->evict(pod, "u1", std::nullopt))));
    }
    SECTION("denied by a webhook, whatever status it gives its denial") {
        const int code = GENERATE(400, 404, 409, 429);
        wire->answers = {fake::status_response(code, code == 404 ? "NotFound" : "Conflict",
                                               "admission webhook \"x\" denied the request: not now")};
        CHECK(error(client->evict(pod, "u1", std::nullopt)).value().code == code);
    }
    SECTION("anything else is a failure") {
        wire->answers = {fake::status_response(403, "Forbidden", "no")};
        CHECK(error(client->evict(pod, "u1", std::nullopt)).value().code == 403);
    }
}

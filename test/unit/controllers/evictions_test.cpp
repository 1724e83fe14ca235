// Tests drains of nodes on which the eviction of a pod is refused, fails or gets no answer.
#include "controllers/services/drain.hpp"
#include "test/support/catch.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/unit/controllers/cluster.hpp"

namespace {

using namespace controllers;
using namespace std::chrono_literals;

const std::string kWebhook = "admission webhook \"evictions.hook.example\" denied the request: ";

// Evicted has pods on the node "n"; evictions of "akafka" go wrong.
struct Evicted : test::Cluster {
    Drainer drainer{informers, client, clock};
    int asked = 0;  // requests to evict akafka

    Evicted() {
        put("akafka");
        for (const auto* name : {"web-1", "web-2", "web-3"}) put(name);
        requests.on_request = [this](const auto& request) { asked += is_of_broker(request) ? 1 : 0; };
    }
    ~Evicted() {
        stop();
        test::run(context, clock, drainer.end());
    }
    void put(const std::string& name) {
        auto pod = builders::PodBuilder(name).on("n").pod;
        pod.metadata.labels = {{"app", name}};
        pod.spec.terminationGracePeriodSeconds = 1;
        api::set_condition(*pod.status.conditions,
                           {"Ready", api::ConditionStatus::True, "", "", std::nullopt}, objects::kStart);
        server.put(pod);
    }
    static bool is_of_broker(const base::HttpRequest& request) {
        return request.target.find("/pods/akafka") != std::string::npos;
    }
    void refuse(int code, const std::string& reason, const std::string& message,
                const boost::json::object& details = {}) {
        requests.answer = [=](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
            if (!is_of_broker(request)) return std::nullopt;
            return fake::status_response(code, reason, message, details);
        };
    }
    void mend() { requests.answer = nullptr; }
    DrainProgress step(std::optional<api::Time> deadline = std::nullopt) {
        DrainRequest request;
        request.node = "n";
        request.deadline = deadline;
        return test::run(context, clock, drainer.step(request));
    }
    // Drains as the claim's reconciler does.
    DrainProgress drain_for(base::Duration duration, std::optional<api::Time> deadline = std::nullopt) {
        DrainProgress progress;
        for (const auto until = clock.now() + duration; clock.now() < until;) {
            progress = step(deadline);
            if (progress.done) break;
            const auto wait = progress.retry_after == 0s ? base::Duration(5s) : progress.retry_after;
            run_for(std::min(wait, std::max<base::Duration>(until - clock.now(), 1ms)));
        }
        return progress;
    }
    std::string left() {
        std::string names;
        for (const auto& pod : server.list<api::Pod>())
            names += (names.empty() ? "" : " ") + pod.metadata.name;
        return names;
    }
};

}  // namespace

TEST_CASE_METHOD(Evicted, "a pod whose eviction is refused keeps no other pod, and is named with the words") {
    struct Refused {
        int code;
        std::string reason, message;
    };
    const auto refused = GENERATE(
        Refused{403, "Forbidden", kWebhook + "the broker moves its partitions first"},
        Refused{404, "NotFound", kWebhook + "the broker is not known"},
        Refused{409, "Conflict", kWebhook + "the broker moves its partitions first"},
        Refused{422, "Invalid", "pods \"akafka\" is forbidden: ValidatingAdmissionPolicy denied request"},
        Refused{429, "TooManyRequests", kWebhook + "one broker after the other"},
        Refused{500, "InternalError", "failed calling webhook \"evict.dead.example\": connection refused"},
        Refused{504, "Timeout", "context deadline exceeded"});
    start();
    refuse(refused.code, refused.reason, refused.message);
    const auto progress = drain_for(20s);
    CHECK(left() == "akafka");
    CHECK_FALSE(progress.done);
    CHECK(progress.fails);
    CHECK(progress.message() ==
          "waiting for 1 pod: blocked default/akafka: eviction failed: " + refused.message);
    mend();
    CHECK(drain_for(35s).done);
    CHECK(left().empty());
}

TEST_CASE_METHOD(Evicted, "a lost connection for one pod keeps no other pod") {
    start();
    requests.answer = [](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        if (is_of_broker(request)) throw base::TransportError("connection reset", true);
        return std::nullopt;
    };
    CHECK(drain_for(20s).message().find("default/akafka: eviction failed: connection reset") !=
          std::string::npos);
    CHECK(left() == "akafka");
}

TEST_CASE_METHOD(Evicted, "a webhook that hangs for one pod delays neither the others nor the step") {
    start();
    refuse(500, "InternalError", "failed calling webhook: context deadline exceeded");
    requests.slowness = [](const auto& request) {
        return is_of_broker(request) ? base::Duration(10s) : base::Duration(0s);
    };
    const auto begin = clock.now();
    const auto first = step();
    CHECK(clock.now() - begin < 3s);
    CHECK(first.message().find("default/akafka: eviction failed: the API server has not answered yet") !=
          std::string::npos);
    run_for(1s);
    CHECK(left() == "akafka");
    CHECK(drain_for(15s).message().find("context deadline exceeded") != std::string::npos);
    mend();
    requests.slowness = nullptr;
    CHECK(drain_for(45s).done);
}

TEST_CASE_METHOD(Evicted, "pods whose evictions hang take no place of the others for long") {
    for (int i = 0; i < 40; ++i) put("akafka-" + std::to_string(i));
    put("zapp");
    start();
    requests.slowness = [](const auto& request) {
        return is_of_broker(request) ? base::Duration(10s) : base::Duration(0s);
    };
    refuse(500, "InternalError", "failed calling webhook: context deadline exceeded");
    drain_for(45s);
    CHECK(left().find("zapp") == std::string::npos);
    CHECK(left().find("web") == std::string::npos);
    // Slow evictions also do not occupy all connections of the client.
    const auto begin = clock.now();
    test::run(context, clock, live_pods(client, "n"));
    CHECK(clock.now() - begin < 1s);
}

TEST_CASE_METHOD(Evicted, "the pauses before a pod is asked again grow up to half a minute") {
    start();
    refuse(403, "Forbidden", kWebhook + "not now");
    drain_for(35s);
    CHECK(asked == 3);  // after 5 and 15 seconds
    asked = 0;
    drain_for(10min);
    CHECK(asked >= 19);
    CHECK(asked <= 21);
}

TEST_CASE_METHOD(Evicted,
                 "a pause that a refusal asks for is respected up to a minute, and a longer one said") {
    const std::int64_t seconds = GENERATE(45, 86400);
    start();
    boost::json::object details{{"retryAfterSeconds", seconds}};
    const bool is_by_budget = GENERATE(true, false);
    if (is_by_budget)
        details["causes"] = {{{"reason", "DisruptionBudget"}, {"message", "The budget is being looked at."}}};
    refuse(429, "TooManyRequests", "not now", details);
    const auto progress = drain_for(30s);
    CHECK(asked == 1);
    const bool is_said = progress.message().find("it asks for a pause of 24h") != std::string::npos;
    CHECK(is_said == (seconds == 86400));
    mend();
    CHECK_FALSE(drain_for(10s).done);
    CHECK(drain_for(35s).done);
}

TEST_CASE_METHOD(Evicted, "a long refusal is shortened and stays in one line") {
    start();
    refuse(403, "Forbidden", "line\nbreak " + std::string(5000, 'x'));
    const auto message = drain_for(5s).message();
    CHECK(message.size() < 500);
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.find("line break xxx") != std::string::npos);
}

TEST_CASE_METHOD(Evicted, "a pod with two budgets is named with them and keeps no other pod") {
    for (const auto* name : {"one", "two"}) {
        auto budget = test::a_budget(name, 1);
        budget.spec.selector->matchLabels = {{"app", "akafka"}};
        server.put(budget);
    }
    start();
    const auto progress = drain_for(20s);
    CHECK(left() == "akafka");
    CHECK_FALSE(progress.fails);
    CHECK(progress.message() ==
          "waiting for 1 pod: blocked default/akafka: has more than one PodDisruptionBudget (default/one, "
          "default/two), which the eviction API refuses; delete all but one of them, or change their "
          "selectors");
    server.remove<api::PodDisruptionBudget>({"default", "two"});
    CHECK(drain_for(35s).done);
}

TEST_CASE_METHOD(Evicted, "a budget that allows nothing is named with its numbers") {
    auto budget = test::a_budget("broker", 0);
    budget.spec.selector->matchLabels = {{"app", "akafka"}};
    budget.status.desiredHealthy = budget.status.currentHealthy = 1;
    server.put(budget);
    start();
    const auto progress = drain_for(20s);
    CHECK(left() == "akafka");
    CHECK_FALSE(progress.fails);
    CHECK(progress.message().find("The disruption budget broker needs 1 healthy pods and has 1 currently") !=
          std::string::npos);
    server.edit<api::PodDisruptionBudget>({"default", "broker"},
                                          [](auto& edited) { edited.status.disruptionsAllowed = 1; });
    CHECK(drain_for(10s).done);
}

TEST_CASE_METHOD(Evicted,
                 "a deadline is kept while evictions fail or hang, and while deletions of one pod fail") {
    start();
    const bool hangs = GENERATE(true, false);
    const bool are_deletions_refused = GENERATE(true, false);
    const api::Time deadline(clock.wall_now() + 60s);
    requests.answer = [=](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        const bool is_refused = request.method == "DELETE" ? are_deletions_refused && is_of_broker(request)
                                                           : request.method == "POST";
        if (!is_refused) return std::nullopt;
        return fake::status_response(403, "Forbidden", kWebhook + "no");
    };
    if (hangs)
        requests.slowness = [](const auto& request) {
            return request.method == "POST" ? base::Duration(20s) : base::Duration(0s);
        };
    drain_for(50s, deadline);
    CHECK(left() == "akafka web-1 web-2 web-3");
    const auto progress = drain_for(11s, deadline);
    CHECK(left() == (are_deletions_refused ? "akafka" : ""));
    // The drain waits for no pod any longer.
    CHECK(drain_for(5s, deadline).done);
}

TEST_CASE_METHOD(Evicted, "requests to evict are counted by what came of them") {
    start();
    server.put(test::a_budget("all"));
    step();
    const auto has = [this](const std::string& labels) {
        return metrics.exposition().find("kubenodesmith_evictions_total{" + labels) != std::string::npos;
    };
    CHECK(has(R"(action="evict",result="blocked"} 4)"));
    server.remove<api::PodDisruptionBudget>({"default", "all"});
    drain_for(20s);
    CHECK(has(R"(action="evict",result="blocked"} 4)"));
    CHECK(has(R"(action="evict",result="accepted"} 4)"));
    CHECK_FALSE(has(R"(action="delete")"));
}

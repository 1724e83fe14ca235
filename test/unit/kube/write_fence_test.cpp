#include "kube/write_fence.hpp"

#include "api/core.hpp"
#include "base/task_group.hpp"
#include "kube/event_recorder.hpp"
#include "kube/leader_election.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/support/seeded_random.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct Fixture {
    asio::io_context context{1};
    fake::VirtualClock clock;
    base::MetricsRegistry metrics;
    fake::ApiServer server{context.get_executor(), clock};
    bool may_write = true;
    kube::Client client{kube::make_write_fence(server.connect(), [this] { return may_write; }), clock,
                        metrics};

    Fixture() {
        api::Namespace home;
        home.metadata.name = "n";
        server.put(home);
    }
    template <class T>
    T run(asio::awaitable<T> work) {
        return test::run(context, clock, std::move(work));
    }
    api::Secret secret(const std::string& name) {
        api::Secret made;
        made.metadata.namespace_ = "n";
        made.metadata.name = name;
        return made;
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a process that may no longer lead writes nothing, of whatever kind and verb") {
    server.put(secret("known"));
    may_write = false;
    CHECK_THROWS_AS(run(client.create(secret("new"))), kube::FencedWriteError);
    kube::Patch patch;
    patch.body = boost::json::object{{"type", "Opaque"}};
    CHECK_THROWS_AS(run(client.patch<api::Secret>({"n", "known"}, patch)), kube::FencedWriteError);
    CHECK_THROWS_AS(run(client.patch_status<api::Node>({"", "a"}, patch)), kube::FencedWriteError);
    CHECK_THROWS_AS(run(client.remove<api::Secret>({"n", "known"})), kube::FencedWriteError);
    CHECK_THROWS_AS(run(client.evict({"n", "p"}, "", std::nullopt)), kube::FencedWriteError);
    CHECK(run(client.get<api::Secret>({"n", "known"})).has_value());
    CHECK_FALSE(run(client.get<api::Secret>({"n", "new"})).has_value());
    may_write = true;
    CHECK(run(client.create(secret("new"))).metadata.name == "new");
}

TEST_CASE_METHOD(Fixture, "what was held back was certainly not sent, and says what it was") {
    may_write = false;
    try {
        run(client.create(secret("new")));
        FAIL("it was sent");
    } catch (const base::TransportError& error) {
        CHECK_FALSE(error.request_may_have_been_sent);
        CHECK(std::string(error.what()) ==
              "POST /api/v1/namespaces/n/secrets: not sent, this process may no longer be the leader");
    }
}

TEST_CASE_METHOD(Fixture,
                 "a process that does not lead can still win the lease, read, and ask who somebody is") {
    may_write = false;
    auto random = fake::make_seeded_random(1);
    kube::LeaderElectionOptions options;
    options.lease = {"n", "lease"};
    options.identity = "me";
    const auto elector = kube::make_leader_elector(client, clock, *random, options);
    run(elector->acquire());
    CHECK(elector->is_leader());
    run(elector->release());
    // The request was sent, whether the server refuses it or not.
    CHECK_THROWS_AS(run(client.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                                    boost::json::object{{"kind", "TokenReview"}})),
                    kube::ApiError);
}

TEST_CASE_METHOD(Fixture, "an Event that may not be written now is written once the lease is sure again") {
    auto random = fake::make_seeded_random(1);
    auto events = kube::make_event_writer(client, clock, *random, context.get_executor(), "test");
    may_write = false;
    base::TaskGroup group(context.get_executor());
    group.spawn(events->run());
    const kube::EventTarget about{"v1", "Secret", "n", "s", "u"};
    events->event(about, kube::EventType::normal, "Told", "something");
    clock.run_for(context, 20s);
    CHECK(server.list<api::Event>().empty());
    may_write = true;
    clock.run_for(context, 20s);
    CHECK(server.list<api::Event>().size() == 1);
    group.stop();
    clock.run_for(context, 1s);
}

namespace {

// SlowToConnect loses the lead while it waits for a connection.
class SlowToConnect final : public base::HttpTransport {
public:
    explicit SlowToConnect(bool& may_write) : may_write_(may_write) {}
    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        may_write_ = false;
        if (request.before_writing) request.before_writing();
        written = true;
        co_return base::HttpResponse{};
    }
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest) override { co_return nullptr; }
    bool written = false;

private:
    bool& may_write_;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a process that loses its lead while it waits for a connection writes nothing") {
    auto connection = std::make_unique<SlowToConnect>(may_write);
    auto& seen = *connection;
    auto fence = kube::make_write_fence(std::move(connection), [this] { return may_write; });
    base::HttpRequest request;
    request.method = "POST";
    request.target = "/api/v1/namespaces/n/events";
    CHECK_THROWS_AS(run(fence->send(request)), kube::FencedWriteError);
    CHECK_FALSE(seen.written);
}

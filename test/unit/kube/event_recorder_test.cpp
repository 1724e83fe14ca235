#include "kube/event_recorder.hpp"

#include "api/core.hpp"
#include "base/task_group.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/support/seeded_random.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class Trouble final : public fake::Interference {
public:
    int times = 0;
    int status = 0;
    std::string refused;  // the server refuses bodies that contain this text
    int refusal = 403;
    std::vector<std::string> hanging;  // namespaces whose webhook hangs
    bool gives_up = false;             // the API server itself gives up waiting for such a webhook
    base::Duration delay(const base::HttpRequest& request) override {
        return hangs(request) ? base::Duration(30s) : base::Duration::zero();
    }
    bool hangs(const base::HttpRequest& request) const {
        return std::ranges::any_of(hanging, [&request](const std::string& name) {
            return request.target.find("/namespaces/" + name + "/") != std::string::npos;
        });
    }
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        if (!refused.empty() && request.body.find('"' + refused + '"') != std::string::npos)
            return fake::status_response(refusal, "Conflict", "no");
        if (hangs(request) && gives_up)
            return fake::status_response(500, "InternalError",
                                         "Internal error occurred: failed calling webhook \"guard.example\": "
                                         "context deadline exceeded");
        if (hangs(request)) return fake::status_response(504, "Timeout", "a webhook did not answer");
        if (times == 0) return std::nullopt;
        --times;
        if (status == 0) throw base::TransportError("lost", true);
        return fake::status_response(status, "Trouble", "trouble");
    }
};

struct Fixture {
    asio::io_context context{1};
    fake::VirtualClock clock;
    fake::ApiServer server{context.get_executor(), clock};
    Trouble trouble;
    base::MetricsRegistry metrics;
    kube::Client client{server.connect(&trouble), clock, metrics};
    std::unique_ptr<base::Random> random = fake::make_seeded_random(1);
    std::unique_ptr<kube::EventWriter> writer =
        kube::make_event_writer(client, clock, *random, context.get_executor(), "operator");
    base::TaskGroup group{context.get_executor()};

    Fixture() {
        api::Namespace default_namespace;
        default_namespace.metadata.name = "default";
        server.put(default_namespace);
        group.spawn(writer->run());
    }
    ~Fixture() {
        group.stop();
        clock.run_for(context, 1s);
    }
    void say(const std::string& reason, const std::string& message, const std::string& name = "pool-a") {
        kube::EventTarget target{"example.io/v1", "Pool", "default", name, "uid-" + name};
        writer->event(target, kube::EventType::warning, reason, message);
        clock.run_for(context, 1s);
    }
    std::vector<api::Event> written() { return server.list<api::Event>(); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "an Event about an object with a name of any length is written") {
    const auto cut = std::string(235, 'a') + "-" + std::string(17, 'b');
    for (const auto& name : {std::string(253, 'a'), cut, std::string("a")}) {
        say("LimitReached", "no more than 3 nodes", name);
        const auto events = written();
        CHECK(std::ranges::any_of(events, [&](const auto& e) { return e.involvedObject.name == name; }));
    }
}

TEST_CASE_METHOD(Fixture, "an Event names its object, type, reason, message and writer") {
    say("LimitReached", "no more than 3 nodes");
    auto events = written();
    REQUIRE(events.size() == 1);
    const auto& event = events.front();
    CHECK(event.metadata.namespace_ == "default");
    CHECK(event.metadata.name.starts_with("pool-a."));
    CHECK(event.involvedObject.kind == "Pool");
    CHECK(event.involvedObject.uid == "uid-pool-a");
    CHECK(event.type == "Warning");
    CHECK(event.reason == "LimitReached");
    CHECK(event.message == "no more than 3 nodes");
    CHECK(event.count == 1);
    CHECK(event.source.component == "operator");
}

TEST_CASE_METHOD(Fixture, "the same thing is said once, a changed one again, and what returns is counted") {
    say("R", "one");
    say("R", "one");
    CHECK(server.writes().size() == 1);
    say("R", "two");
    say("R", "one");
    auto events = written();
    REQUIRE(events.size() == 2);
    for (const auto& event : events) CHECK(event.count == (event.message == "one" ? 2 : 1));
}

TEST_CASE_METHOD(Fixture, "an object that changes its mind all the time is silenced, others are heard") {
    for (int i = 0; i < 60; ++i) say("R", "message " + std::to_string(i));
    CHECK((written().size() >= 25 && written().size() <= 26));
    say("R", "hello", "pool-b");
    CHECK(written().back().involvedObject.name == "pool-b");
    clock.run_for(context, 10min);
    const auto before = written().size();
    say("R", "later");
    CHECK(written().size() == before + 1);
}

// Otherwise a pod could wait without an explanation if the server was away when its Event was due.
TEST_CASE_METHOD(Fixture, "an Event outlives an outage, but not any") {
    SECTION("lost connections") {}
    SECTION("server errors") {
        trouble.status = 500;
    }
    SECTION("an overloaded server") {
        trouble.status = 429;
    }
    trouble.times = 100'000;
    say("R", "one");
    clock.run_for(context, 30min);
    CHECK(written().empty());
    trouble.times = 0;
    clock.run_for(context, 1min);
    CHECK(written().size() == 1);
    trouble.times = 100'000;
    say("R", "two");
    clock.run_for(context, 70min);
    trouble.times = 0;
    say("R", "three");
    clock.run_for(context, 1min);
    CHECK(written().size() == 2);
}

TEST_CASE_METHOD(Fixture, "an Event that is refused for good is given up at once") {
    for (const int status : {403, 404, 422}) {
        trouble.status = status;
        trouble.times = 1;
        say("R", "one " + std::to_string(status));
        clock.run_for(context, 5min);
        CHECK(trouble.times == 0);
    }
    CHECK(written().empty());
}

TEST_CASE_METHOD(Fixture, "an Event that fails for now holds up no others, and is written later") {
    for (const int status : {409, 429, 500, 503}) {
        const auto before = written().size();
        trouble.refusal = status;
        trouble.refused = "one";
        for (int i = 0; i < 5; ++i)
            writer->event({"example.io/v1", "Pool", "default",
                           "pool-" + std::to_string(i) + "-" + std::to_string(status), ""},
                          kube::EventType::warning, "R", i == 4 ? "two" : "one");
        clock.run_for(context, 100ms);
        REQUIRE(written().size() == before + 1);
        CHECK(written().back().message == "two");
        clock.run_for(context, 10min);
        trouble.refused.clear();
        clock.run_for(context, 2min);
        CHECK(written().size() == before + 5);
    }
}

TEST_CASE_METHOD(Fixture, "Events of namespaces whose webhooks hang delay those of no other namespace") {
    trouble.gives_up = GENERATE(false, true);
    const auto say_all = [this](const std::string& space, int count) {
        for (int i = 0; i < count; ++i) {
            const auto name = "pod-" + std::to_string(i);
            writer->event({"v1", "Pod", space, name, space + name}, kube::EventType::normal, "R", "waits");
        }
    };
    for (int i = 0; i < 12; ++i) {
        api::Namespace space;
        space.metadata.name = "hangs-" + std::to_string(i);
        server.put(space);
        trouble.hanging.push_back(space.metadata.name);
    }
    // These are as many as the queue holds.
    for (const auto& name : trouble.hanging) say_all(name, 100);
    clock.run_for(context, 10min);
    say_all("default", 5);
    clock.run_for(context, 35s);
    REQUIRE(written().size() == 5);
    for (const auto& event : written()) CHECK(event.involvedObject.namespace_ == "default");
    trouble.hanging.clear();
    clock.run_for(context, 2min);
    CHECK(written().size() > 900);
}

TEST_CASE_METHOD(Fixture,
                 "an Event that was under way at the end is tried once more, and one that hangs delays few") {
    api::Namespace space;
    space.metadata.name = "hangs";
    server.put(space);
    trouble.hanging = {"hangs"};
    for (int i = 0; i < 20; ++i)
        writer->event({"v1", "Pod", "hangs", "pod-" + std::to_string(i), ""}, kube::EventType::normal, "R",
                      "a");
    clock.run_for(context, 1s);
    group.stop();
    clock.run_for(context, 1s);
    writer->event({"v1", "Pod", "default", "pod", ""}, kube::EventType::normal, "R", "a");
    SECTION("the webhook still hangs") {
        test::run(context, clock, writer->flush());
        CHECK(written().size() == 1);
    }
    SECTION("it answers again") {
        trouble.hanging.clear();
        test::run(context, clock, writer->flush());
        CHECK(written().size() == 21);
    }
}

TEST_CASE_METHOD(Fixture, "a warning from a namespace that is being deleted is about the namespace") {
    api::Namespace ending;
    ending.metadata.name = "ending";
    ending.metadata.finalizers->emplace_back("kubernetes");
    server.put(ending);
    server.remove<api::Namespace>({"", "ending"});
    const kube::EventTarget pool{"example.io/v1", "Pool", "ending", "a", "uid"};
    writer->event(pool, kube::EventType::normal, "Done", "zero");
    clock.run_for(context, 10min);
    CHECK(written().empty());
    CHECK(server.writes().size() == 1);
    writer->event(pool, kube::EventType::warning, "R", "one");
    clock.run_for(context, 10min);
    REQUIRE(written().size() == 1);
    const auto event = written().front();
    CHECK(event.metadata.namespace_ == "default");
    CHECK(event.involvedObject.kind == "Namespace");
    CHECK(event.involvedObject.name == "ending");
    CHECK(event.involvedObject.namespace_.empty());
    CHECK(event.message == "Pool a: one");
    say("R", "two");
    CHECK(written().size() == 2);
}

TEST_CASE_METHOD(Fixture, "of too many Events warnings stay longest") {
    const auto pool = [](int number) {
        const auto name = "pool-" + std::to_string(number);
        return kube::EventTarget{"example.io/v1", "Pool", "default", name, "uid-" + name};
    };
    writer->event(pool(0), kube::EventType::warning, "Left", "a machine is left");
    for (int i = 1; i <= 3000; ++i) writer->event(pool(i), kube::EventType::normal, "Created", "one more");
    clock.run_for(context, 1min);
    const auto all = written();
    CHECK(all.size() < 3000);
    CHECK(std::ranges::count(all, "Left", &api::Event::reason) == 1);
}

TEST_CASE_METHOD(Fixture, "what waits at the end is written by flush, with one try for each") {
    group.stop();
    clock.run_for(context, 1s);
    say("R", "one");
    say("R", "two");
    CHECK(written().empty());
    trouble.times = 1;
    test::run(context, clock, writer->flush());
    CHECK(written().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a long message loses its middle, so that it fits and still says the cause") {
    say("R", "clone failed: " + std::string(3000, 'x') + ": no space left on device");
    const auto message = written().front().message;
    CHECK(message.size() == 1024);
    CHECK_THAT(message, Catch::StartsWith("clone failed: xxx") && Catch::Contains("xxx...xxx") &&
                            Catch::EndsWith("xxx: no space left on device"));
}

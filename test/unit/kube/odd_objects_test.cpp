// Tests objects that cannot be decoded. Each is left out or kept as it was, and all other objects are
// updated.
#include <boost/json/array.hpp>

#include "api/core.hpp"
#include "base/task_group.hpp"
#include "kube/informer.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/support/seeded_random.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class Notes final : public kube::EventRecorder {
public:
    std::vector<std::string> texts;
    void event(const kube::EventTarget& about, kube::EventType, std::string reason,
               std::string message) override {
        texts.push_back(about.name + " " + reason + " " + message);
    }
};

struct OddFixture {
    asio::io_context context{1};
    fake::VirtualClock clock;
    fake::ApiServer server{context.get_executor(), clock};
    base::MetricsRegistry metrics;
    kube::Client client{server.connect(), clock, metrics};
    std::unique_ptr<base::Random> random = fake::make_seeded_random(1);
    kube::Informer<api::Pod> pods{client, clock, *random, context.get_executor()};
    base::TaskGroup group{context.get_executor()};
    Notes notes;

    OddFixture() { pods.report_odd_objects_to(notes); }
    ~OddFixture() {
        group.stop();
        clock.run_for(context, 1s);
    }
    void start() {
        group.spawn(pods.run());
        clock.run_for(context, 1s);
    }
    void put(const std::string& name, const std::string& node = "") {
        api::Pod pod;
        pod.metadata.namespace_ = "default";
        pod.metadata.name = name;
        pod.spec.nodeName = node;
        server.put(pod);
        clock.run_for(context, 1s);
    }
    void make_odd(const std::string& name, const std::string& node = "elsewhere") {
        server.store().update(server.key<api::Pod>({"default", name}), [&node](boost::json::object& pod) {
            pod["spec"] = {{"nodeName", node}, {"containers", 7}};
        });
        clock.run_for(context, 1s);
    }
    std::shared_ptr<const api::Pod> pod(const std::string& name) {
        return pods.store().get({"default", name});
    }
    bool shows(const std::string& line) {
        return metrics.exposition().find(line + "\n") != std::string::npos;
    }
    bool has_failed() { return !shows("kubenodesmith_informer_failures_total{resource=\"pods\"} 0"); }
};

}  // namespace

TEST_CASE_METHOD(OddFixture, "an odd object in a list is left out, and the others are read") {
    put("a");
    put("odd");
    make_odd("odd");
    put("z");
    start();
    CHECK(pods.synced());
    CHECK(pod("a"));
    CHECK(pod("z"));
    CHECK_FALSE(pod("odd"));
    CHECK(pods.undecodable().contains({"default", "odd"}));
    CHECK(shows("kubenodesmith_undecodable_objects{resource=\"pods\"} 1"));
    REQUIRE(notes.texts.size() == 1);
    CHECK_THAT(notes.texts[0], Catch::StartsWith("odd CannotBeDecoded ") &&
                                   Catch::Contains("/spec/containers: expected an array"));
    CHECK_FALSE(has_failed());

    SECTION("until it can be read") {
        put("odd", "n");
        CHECK(pod("odd")->spec.nodeName == "n");
    }
    SECTION("until it is gone") {
        server.remove<api::Pod>({"default", "odd"}, 0);
        clock.run_for(context, 2s);
    }
    CHECK(pods.undecodable().empty());
    CHECK(shows("kubenodesmith_undecodable_objects{resource=\"pods\"} 0"));
}

TEST_CASE_METHOD(OddFixture, "an object that becomes odd keeps its last good version, marked as outdated") {
    put("odd", "n");
    start();
    make_odd("odd");
    REQUIRE(pod("odd"));
    CHECK(pod("odd")->spec.nodeName == "n");
    CHECK(pod("odd")->metadata.isOutdated);
    CHECK(pods.undecodable().size() == 1);
    // Further changes of it are not reported again.
    for (const auto* node : {"m", "o", "p"}) make_odd("odd", node);
    CHECK(notes.texts.size() == 1);
    CHECK(pods.undecodable().any_on("p") == api::ObjectKey{"default", "odd"});
    CHECK_FALSE(pods.undecodable().any_on("m"));
    put("later");
    CHECK(pod("later"));
    CHECK_FALSE(has_failed());

    SECTION("also when the watch begins anew") {
        server.store().compact(server.store().version());
        server.cut_watches();
        clock.run_for(context, 30s);
        CHECK(pod("odd")->metadata.isOutdated);
        CHECK(pod("odd")->spec.nodeName == "n");
        put("odd", "q");
        CHECK(pod("odd")->spec.nodeName == "q");
        CHECK_FALSE(pod("odd")->metadata.isOutdated);
    }
    SECTION("until another object of that name takes its place") {
        server.remove<api::Pod>({"default", "odd"}, 0);
        clock.run_for(context, 2s);
        CHECK_FALSE(pod("odd"));
        CHECK(pods.undecodable().empty());
        put("odd", "q");
        CHECK(pod("odd")->spec.nodeName == "q");
    }
}

TEST_CASE_METHOD(OddFixture, "an odd version of three seconds stops nothing after it is gone") {
    start();
    put("odd");
    make_odd("odd");
    server.remove<api::Pod>({"default", "odd"}, 0);
    put("next");
    CHECK(pod("next"));
    CHECK_FALSE(pod("odd"));
    CHECK_FALSE(has_failed());
}

TEST_CASE_METHOD(OddFixture, "an odd object that is not admitted is nobody's concern") {
    pods.admit_only([](const api::Pod& object) { return object.metadata.namespace_ != "default"; });
    put("odd");
    make_odd("odd");
    start();
    CHECK(pods.synced());
    CHECK(pods.undecodable().empty());
    CHECK(notes.texts.empty());
}

TEST_CASE_METHOD(OddFixture, "what is read once beside the watch marks odd objects as well") {
    start();
    put("odd", "n");
    server.store().update(server.key<api::Pod>({"default", "odd"}),
                          [](boost::json::object& pod) { pod["spec"] = 7; });
    test::run(context, clock, pods.observe_list(client, {"default"}));
    CHECK(pod("odd")->metadata.isOutdated);
    CHECK(pods.undecodable().size() == 1);
}

TEST_CASE_METHOD(OddFixture, "the age of the copy counts from what the server sent last") {
    CHECK_FALSE(pods.age());
    start();
    put("a");
    clock.run_for(context, 20s);
    REQUIRE(pods.age());
    CHECK(*pods.age() >= 20s);
    CHECK(metrics.exposition().find("kubenodesmith_informer_age_seconds{resource=\"pods\"} 2") !=
          std::string::npos);
    // An object that cannot be decoded also proves that the watch is alive.
    put("odd");
    make_odd("odd");
    CHECK(*pods.age() < 5s);
}

TEST_CASE_METHOD(OddFixture, "an object that is too large is kept without a part of it and named once") {
    start();
    put("large");
    const auto enlarge = [this](int labels) {
        server.edit<api::Pod>({"default", "large"}, [labels](api::Pod& edited) {
            for (int i = 0; i < labels; ++i)
                edited.metadata.labels["l" + std::to_string(i)] = std::string(63, 'x');
            edited.spec.nodeName += "x";
        });
        clock.run_for(context, 1s);
    };
    enlarge(10);
    CHECK(pods.large().size() == 0);
    enlarge(1000);
    CHECK(pods.large().size() == 1);
    CHECK(pod("large")->metadata.labels.size() < 1000);
    CHECK(pod("large")->spec.nodeName == "xx");
    enlarge(1000);
    REQUIRE(notes.texts.size() == 1);
    CHECK(notes.texts[0].starts_with("large TooLarge "));
    CHECK(notes.texts[0].find("metadata.labels") != std::string::npos);
    server.edit<api::Pod>({"default", "large"}, [](api::Pod& edited) { edited.metadata.labels.reset(); });
    clock.run_for(context, 1s);
    CHECK(pods.large().size() == 0);
}

#include "kube/informer.hpp"

#include "api/core.hpp"
#include "base/task_group.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/support/seeded_random.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

api::Pod pod(const std::string& name, const std::string& node = "") {
    api::Pod result;
    result.metadata.namespace_ = "default";
    result.metadata.name = name;
    result.spec.nodeName = node;
    return result;
}

// Trouble refuses requests whose target contains `part`, `times` times.
class Trouble final : public fake::Interference {
public:
    std::string part;
    int times = 0;
    base::Duration hang{};  // wait instead of an answer
    int status = 0;         // 0: a lost connection
    std::string reason;
    boost::json::object details;
    std::chrono::seconds retry_after{};
    std::vector<std::string> targets;

    base::Duration delay(const base::HttpRequest& request) override {
        const bool hangs = times > 0 && hang > 0s && request.target.find(part) != std::string::npos;
        return hangs ? hang : base::Duration{};
    }
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        targets.push_back(request.target);
        if (times == 0 || request.target.find(part) == std::string::npos) return std::nullopt;
        --times;
        if (status == 0) throw base::TransportError("lost", true);
        auto response = fake::status_response(status, reason, "trouble", details);
        if (retry_after > 0s) response.headers.set("Retry-After", std::to_string(retry_after.count()));
        return response;
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
    kube::Informer<api::Pod> pods{client, clock, *random, context.get_executor()};
    base::TaskGroup group{context.get_executor()};
    std::vector<std::string> changes;

    Fixture() {
        pods.store().add_index("node", [](const api::Pod& object) {
            std::vector<std::string> values;
            if (!object.spec.nodeName.empty()) values.push_back(object.spec.nodeName);
            return values;
        });
        pods.on_change([this](const api::Pod* before, const api::Pod* after) {
            const char* what = !before ? "+" : !after ? "-" : "~";
            changes.push_back(what + (after ? after : before)->metadata.name);
        });
    }
    ~Fixture() { finish(); }
    // Ends the informer. A test whose informer is a local variable calls this while the variable still lives.
    void finish() {
        group.stop();
        clock.run_for(context, 1s);
        CHECK(group.size() == 0);
    }
    void start() {
        group.spawn(pods.run());
        clock.run_for(context, 1s);
    }
    std::vector<std::string> names_on(const std::string& node) {
        std::vector<std::string> names;
        for (const auto& object : pods.store().by_index("node", node)) names.push_back(object->metadata.name);
        return names;
    }
    std::string failures() const {
        const std::string sample = "kubenodesmith_informer_failures_total{resource=\"pods\"} ";
        const auto text = metrics.exposition();
        const auto at = text.find(sample);
        REQUIRE(at != std::string::npos);
        return text.substr(at + sample.size(), text.find('\n', at) - at - sample.size());
    }
    std::size_t count_targets(const std::string& part) const {
        std::size_t count = 0;
        for (const auto& target : trouble.targets) count += target.find(part) != std::string::npos;
        return count;
    }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(Fixture, "objects and indexes follow the server") {
    server.put(pod("a", "n1"));
    start();
    CHECK(pods.synced());
    server.put(pod("b", "n1"));
    server.edit<api::Pod>({"default", "a"}, [](api::Pod& object) { object.spec.nodeName = "n2"; });
    clock.run_for(context, 1s);
    CHECK(names_on("n1") == Names{"b"});
    CHECK(names_on("n2") == Names{"a"});
    server.remove<api::Pod>({"default", "b"}, 0);
    clock.run_for(context, 2s);
    CHECK(names_on("n1").empty());
    CHECK(pods.store().size() == 1);
    CHECK(changes.front() == "+a");
    CHECK(changes.back() == "-b");
    CHECK(metrics.exposition().find("kubenodesmith_informer_objects{resource=\"pods\"} 1\n") !=
          std::string::npos);
}

TEST_CASE_METHOD(Fixture,
                 "a transform is applied to what is listed, watched and written, before it is kept") {
    kube::Informer<api::Pod> small(client, clock, *random, context.get_executor(), {},
                                   [](api::Pod& object) { object.metadata.annotations->erase("long"); });
    const auto long_pod = [](const std::string& name) {
        auto object = pod(name);
        object.metadata.annotations = {{"long", "text"}, {"short", "text"}};
        return object;
    };
    server.put(long_pod("listed"));
    group.spawn(small.run());
    clock.run_for(context, 1s);
    server.put(long_pod("watched"));
    clock.run_for(context, 1s);
    auto written = long_pod("written");
    written.metadata.resourceVersion = "1000";
    small.observe(written);
    CHECK(small.store().size() == 3);
    for (const auto& [key, object] : small.store().all())
        CHECK(object->metadata.annotations == api::StringMap{{"short", "text"}});
    finish();
}

TEST_CASE_METHOD(Fixture, "a list of several pages becomes visible as a whole") {
    for (int i = 0; i < 1201; ++i) server.put(pod("p" + std::to_string(i)));
    std::size_t smallest_seen = 5000;
    pods.on_change(
        [&](const api::Pod*, const api::Pod*) { smallest_seen = std::min(smallest_seen, changes.size()); });
    start();
    CHECK(pods.store().size() == 1201);
    CHECK(count_targets("limit=500") == 3);
    CHECK(count_targets("watch=1") == 1);
}

TEST_CASE_METHOD(Fixture, "a watch that ends is resumed where it was, without a new list") {
    start();
    server.put(pod("a"));
    clock.run_for(context, 1s);
    server.cut_watches();
    server.put(pod("b"));
    clock.run_for(context, 5s);
    CHECK(pods.store().size() == 2);
    CHECK(count_targets("limit=500") == 1);
    CHECK(count_targets("watch=1") == 2);
}

TEST_CASE_METHOD(
    Fixture, "a version that is too old is answered by a new list, of which only the differences are told") {
    server.put(pod("kept"));
    server.put(pod("deleted"));
    start();
    changes.clear();
    trouble.part = "watch=1";
    trouble.status = 410;
    trouble.reason = "Expired";
    trouble.times = 1;
    server.cut_watches();
    server.remove<api::Pod>({"default", "deleted"}, 0);
    server.put(pod("new"));
    std::size_t during = 0;
    for (int i = 0; i < 100; ++i) {
        clock.run_for(context, 20ms);
        during = std::max(during, pods.store().size());
        CHECK(pods.store().size() >= 1);  // the store is never emptied
    }
    CHECK(changes == Names{"-deleted", "+new"});
    CHECK(count_targets("limit=500") == 2);
}

TEST_CASE_METHOD(Fixture,
                 "a failing list is tried again later and later, and nobody is told that it is synced") {
    trouble.part = "limit=500";
    trouble.times = 4;
    SECTION("lost connections") {}
    SECTION("server errors") {
        trouble.status = 500;
        trouble.reason = "InternalError";
    }
    server.put(pod("a"));
    start();
    CHECK_FALSE(pods.synced());
    clock.run_for(context, 1s);
    const auto early = count_targets("limit=500");
    CHECK((early == 2 || early == 3));
    clock.run_for(context, 20s);
    CHECK(pods.synced());
    CHECK(count_targets("limit=500") == 5);
    CHECK(metrics.exposition().find("kubenodesmith_informer_failures_total{resource=\"pods\"} 4\n") !=
          std::string::npos);
}

namespace {

// Switch keeps the address, but another server may answer there.
class Switch final : public base::HttpTransport {
public:
    std::unique_ptr<base::HttpTransport> current;
    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        return current->send(std::move(request));
    }
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override {
        return current->open(std::move(request));
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a server restored from a backup is believed, though its versions are older") {
    auto address = std::make_unique<Switch>();
    auto& connection = *address;
    connection.current = server.connect();
    kube::Client other(std::move(address), clock, metrics);
    kube::Informer<api::Pod> restored_pods(other, clock, *random, context.get_executor());
    fake::ApiServer backup(context.get_executor(), clock);
    auto kept = pod("kept");
    backup.put(kept);

    for (int i = 0; i < 20; ++i) server.put(pod("lost" + std::to_string(i)));
    kept.spec.nodeName = "lost";
    server.put(kept);
    group.spawn(restored_pods.run());
    clock.run_for(context, 1s);
    REQUIRE(restored_pods.store().size() == 21);

    // Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#unavailable-resource-versions
    trouble.part = "watch=1";
    trouble.status = 504;
    trouble.reason = "Timeout";
    trouble.details = {
        {"causes", boost::json::array{boost::json::object{{"reason", "ResourceVersionTooLarge"}}}}};
    trouble.times = 1;
    connection.current = backup.connect(&trouble);
    server.cut_watches();
    clock.run_for(context, 5s);
    CHECK(restored_pods.store().size() == 1);
    CHECK(restored_pods.store().get({"default", "kept"})->spec.nodeName.empty());
    finish();
}

TEST_CASE_METHOD(Fixture, "an object that is older in a list than it is known proves a restored backup") {
    auto x = server.put(pod("x"));
    const auto backup = server.store().back_up();
    server.edit<api::Pod>({"default", "x"}, [](api::Pod& object) { object.spec.nodeName = "n1"; });
    start();
    REQUIRE(names_on("n1") == Names{"x"});
    int restores = 0;
    pods.on_restore([&restores] { ++restores; });
    server.restore(backup);
    // Others write until the versions exceed those that the watch has seen.
    for (int i = 0; i < 20; ++i) server.put(pod("other" + std::to_string(i)));
    server.store().compact(server.store().version());
    server.cut_watches();
    clock.run_for(context, 10s);
    CHECK(names_on("n1").empty());
    CHECK(pods.store().size() == 21);
    CHECK(restores == 1);
}

TEST_CASE_METHOD(Fixture, "a refused write shows a restore that the watch slept through") {
    server.put(pod("x"));
    const auto backup = server.store().back_up();
    const auto move_to = [this](const char* node) {
        server.edit<api::Pod>({"default", "x"}, [node](api::Pod& object) { object.spec.nodeName = node; });
    };
    move_to("n1");
    for (int i = 0; i < 5; ++i) server.put(pod("lost" + std::to_string(i)));
    start();
    int restores = 0;
    pods.on_restore([&restores] { ++restores; });
    server.restore(backup);
    server.put(pod("other"));
    SECTION("the object is older than it is known") {}
    SECTION("the object was changed in a version that the watch has passed") {
        move_to("n2");
    }
    // Others write until the versions exceed those that the watch has seen, so it hears them as usual.
    for (int i = 0; i < 20; ++i) server.put(pod("later" + std::to_string(i)));
    clock.run_for(context, 1s);
    REQUIRE(names_on("n1") == Names{"x"});
    group.spawn(pods.recheck(client, {"default", "x"}));
    clock.run_for(context, 1s);
    CHECK(restores == 1);
}

TEST_CASE_METHOD(Fixture, "the answer to a write shows a restore that the watch slept through") {
    server.put(pod("x"));
    const auto backup = server.store().back_up();
    for (int i = 0; i < 20; ++i) server.put(pod("lost" + std::to_string(i)));
    start();
    int restores = 0;
    pods.on_restore([this, &restores] {
        ++restores;
        pods.list_anew();
    });
    server.restore(backup);
    server.put(pod("waits"));
    const kube::ObjectKey x{"default", "x"};
    const auto before = pods.before_write(x);
    const auto written = server.edit<api::Pod>(x, [](api::Pod& object) { object.spec.nodeName = "n1"; });
    pods.check_answer(written, before);
    pods.check_answer(written, before);  // the list that it wants is not wanted twice
    pods.observe(written);
    clock.run_for(context, 1s);
    CHECK(restores == 1);
    CHECK(names_on("n1") == Names{"x"});
    CHECK(pods.store().get({"default", "waits"}));
    CHECK(pods.store().size() == 2);
    pods.check_answer(written, before);  // an answer that was late: the list has replaced everything
    CHECK(restores == 1);
}

TEST_CASE_METHOD(Fixture, "the answer to a creation shows a restore that the watch slept through") {
    const auto backup = server.store().back_up();
    for (int i = 0; i < 20; ++i) server.put(pod("lost" + std::to_string(i)));
    start();
    int restores = 0;
    pods.on_restore([&restores] { ++restores; });
    pods.check_answer(server.put(pod("before")), pods.before_creation());
    clock.run_for(context, 1s);
    CHECK(restores == 0);
    server.restore(backup);
    pods.check_answer(server.put(pod("after")), pods.before_creation());
    CHECK(restores == 1);
}

TEST_CASE_METHOD(Fixture, "the answer to a write proves no restore") {
    const kube::ObjectKey x{"default", "x"};
    server.put(pod("x"));
    server.put(pod("other"));
    start();
    int restores = 0;
    pods.on_restore([&restores] { ++restores; });
    const auto move_to = [this, &x](const char* node) {
        return server.edit<api::Pod>(x, [node](api::Pod& object) { object.spec.nodeName = node; });
    };
    const auto before = pods.before_write(x);
    SECTION("where it is late, and the watch has brought newer versions of the object and of others") {
        const auto written = move_to("n1");
        move_to("n2");
        server.put(pod("later"));
        clock.run_for(context, 1s);
        REQUIRE(names_on("n2") == Names{"x"});
        pods.check_answer(written, before);
    }
    SECTION("where the write changed nothing") {
        pods.check_answer(*pods.store().get(x), before);
    }
    SECTION("where it was sent on top of a write that the watch has not brought yet") {
        server.options().watch_delay = 10s;
        pods.observe(move_to("n1"));
        const auto second = pods.before_write(x);
        pods.check_answer(move_to("n2"), second);
    }
    SECTION("where the object was not known") {
        pods.check_answer(*pods.store().get(x), pods.before_write({"default", "y"}));
    }
    SECTION("where versions are no numbers") {
        auto odd = *pods.store().get(x);
        odd.metadata.resourceVersion = "seven";
        pods.check_answer(odd, before);
    }
    CHECK(restores == 0);
}

TEST_CASE_METHOD(Fixture, "a refused write brings the current object before the watch does") {
    server.put(pod("x"));
    start();
    int restores = 0;
    pods.on_restore([&restores] { ++restores; });
    trouble.part = "watch=1";
    trouble.status = 500;
    trouble.times = 100;
    server.cut_watches();
    server.edit<api::Pod>({"default", "x"}, [](api::Pod& object) { object.spec.nodeName = "n1"; });
    clock.run_for(context, 1s);
    REQUIRE(names_on("n1").empty());
    group.spawn(pods.recheck(client, {"default", "x"}));
    clock.run_for(context, 1s);
    CHECK(names_on("n1") == Names{"x"});
    CHECK(restores == 0);
}

TEST_CASE_METHOD(Fixture,
                 "after a restore everything is listed anew, though the watch stands and is silent") {
    server.put(pod("x"));
    const auto backup = server.store().back_up();
    for (int i = 0; i < 20; ++i) server.put(pod("lost" + std::to_string(i)));
    start();
    server.restore(backup);
    server.put(pod("waits"));
    clock.run_for(context, 1min);
    // The watch waits for a version that the server has not reached yet.
    REQUIRE_FALSE(pods.store().get({"default", "waits"}));
    pods.list_anew();
    clock.run_for(context, 1s);
    CHECK(pods.store().size() == 2);
    CHECK(pods.store().get({"default", "waits"}));
    server.put(pod("later"));
    clock.run_for(context, 1s);
    CHECK(pods.store().get({"default", "later"}));
    CHECK(failures() == "0");
}

TEST_CASE_METHOD(Fixture, "after a restore everything is replaced, also if the first list fails") {
    server.put(pod("x"));
    start();
    const auto backup = server.store().back_up();
    server.options().watch_delay = 1h;
    pods.observe(server.put(pod("never-happened")));
    server.restore(backup);
    trouble.part = "/pods";
    trouble.status = 503;
    trouble.times = 2;
    pods.list_anew();
    clock.run_for(context, 1min);
    CHECK(pods.store().size() == 1);
}

TEST_CASE_METHOD(Fixture, "after a restore an equal version is not the same object") {
    server.put(pod("x"));
    const auto backup = server.store().back_up();
    server.edit<api::Pod>({"default", "x"}, [](api::Pod& object) { object.spec.nodeName = "n1"; });
    start();
    server.restore(backup);
    server.edit<api::Pod>({"default", "x"}, [](api::Pod& object) { object.spec.nodeName = "n2"; });
    pods.list_anew();
    clock.run_for(context, 1s);
    CHECK(names_on("n1").empty());
    CHECK(names_on("n2") == Names{"x"});
}

TEST_CASE_METHOD(Fixture, "what we wrote is there at once, and older news about it is ignored") {
    start();
    server.options().watch_delay = 10s;
    auto created = server.put(pod("a"));
    pods.observe(created);
    CHECK(changes == Names{"+a"});
    auto patched =
        server.edit<api::Pod>({"default", "a"}, [](api::Pod& object) { object.spec.nodeName = "n1"; });
    pods.observe(patched);
    CHECK(names_on("n1") == Names{"a"});
    clock.run_for(context, 30s);
    CHECK(changes == Names{"+a", "~a"});
    pods.observe(created);
    CHECK(names_on("n1") == Names{"a"});
}

TEST_CASE_METHOD(Fixture,
                 "the answer to a write that arrives after the news of the deletion brings nothing back") {
    start();
    auto created = server.put(pod("a"));
    clock.run_for(context, 1s);
    server.remove<api::Pod>({"default", "a"}, 0);
    clock.run_for(context, 3s);
    REQUIRE(pods.store().size() == 0);
    pods.observe(created);
    CHECK(pods.store().size() == 0);
}

TEST_CASE_METHOD(Fixture, "a watch that is not answered at all is given up long before a silent one") {
    trouble.part = "watch=1";
    trouble.times = 1;
    trouble.hang = 2min;
    start();
    server.put(pod("a"));
    clock.run_for(context, 20s);
    CHECK(pods.store().size() == 0);
    trouble.times = 0;
    clock.run_for(context, 15s);
    CHECK(pods.store().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a silent watch is begun anew where it was, and that is no failure") {
    start();
    clock.run_for(context, 1h);
    const auto watches = count_targets("watch=1");
    CHECK((watches == 48 || watches == 49));
    CHECK(count_targets("limit=500") == 1);
    CHECK(failures() == "0");
}

TEST_CASE_METHOD(Fixture, "a watch whose connection breaks after it stood is resumed at once") {
    start();
    for (int i = 0; i < 9; ++i) {
        clock.run_for(context, 20s);
        server.break_watches();
        server.put(pod(std::to_string(i)));
        clock.run_for(context, 100ms);
        CHECK(pods.store().size() == static_cast<std::size_t>(i + 1));
    }
    CHECK(count_targets("limit=500") == 1);
    CHECK(failures() == "0");
}

TEST_CASE_METHOD(Fixture, "a watch whose connection breaks at once is a failure and waits") {
    start();
    server.break_watches();
    server.put(pod("a"));
    clock.run_for(context, 100ms);
    CHECK(pods.store().size() == 0);
    CHECK(failures() == "1");
    clock.run_for(context, 2s);
    CHECK(pods.store().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a server that asks to be left alone is, for five minutes at most") {
    trouble.part = "limit=500";
    trouble.times = 1000;
    trouble.status = 429;
    trouble.retry_after = 120s;
    start();
    clock.run_for(context, 118s);
    CHECK(count_targets("limit=500") == 1);
    clock.run_for(context, 5s);
    CHECK(count_targets("limit=500") == 2);
    trouble.retry_after = 24h;
    clock.run_for(context, 2min);
    CHECK(count_targets("limit=500") == 3);
    trouble.times = 0;
    clock.run_for(context, 5min);
    CHECK(pods.synced());
}

TEST_CASE("versions are compared as numbers") {
    CHECK(kube::is_newer("10", "9"));
    CHECK_FALSE(kube::is_newer("9", "10"));
    CHECK_FALSE(kube::is_newer("10", "10"));
    CHECK_FALSE(kube::is_newer("abc", "1"));
    CHECK_FALSE(kube::is_newer("", ""));
}

TEST_CASE_METHOD(Fixture,
                 "what is not admitted is in no store and no change, and each version of it is told") {
    std::vector<std::string> refused;
    pods.admit_only([](const api::Pod& object) { return object.metadata.namespace_ == "default"; });
    pods.on_refusal([&](const api::Pod& object) { refused.push_back(object.metadata.name); });
    auto listed = pod("listed"), watched = pod("watched"), written = pod("written");
    for (auto* object : {&listed, &watched, &written}) object->metadata.namespace_ = "team-a";
    server.put(listed);
    server.put(pod("ours"));
    start();
    server.put(watched);
    server.edit<api::Pod>({"team-a", "watched"}, [](api::Pod& object) { object.spec.nodeName = "n1"; });
    written.metadata.resourceVersion = "999999";
    pods.observe(written);
    clock.run_for(context, 1s);
    server.remove<api::Pod>({"team-a", "watched"}, 0);
    clock.run_for(context, 1s);
    CHECK(pods.store().size() == 1);
    CHECK(changes == Names{"+ours"});
    CHECK(names_on("n1").empty());
    CHECK(refused == Names{"listed", "watched", "watched"});
}

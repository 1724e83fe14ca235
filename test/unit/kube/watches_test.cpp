#include "kube/watches.hpp"

#include "api/core.hpp"
#include "base/task_group.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/support/seeded_random.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using Names = std::vector<std::string>;

api::Node node(const std::string& name) {
    api::Node result;
    result.metadata.name = name;
    return result;
}

bool is_cordoned(const api::Node& object) {
    return object.spec.unschedulable;
}

// Nodes a and b exist when the declarations take effect.
struct Fixture {
    asio::io_context context{1};
    fake::VirtualClock clock;
    fake::ApiServer server{context.get_executor(), clock};
    base::MetricsRegistry metrics;
    kube::Client client{server.connect(nullptr), clock, metrics};
    std::unique_ptr<base::Random> random = fake::make_seeded_random(1);
    kube::Informer<api::Node> nodes{client, clock, *random, context.get_executor()};
    kube::WorkQueue queue{"test", context.get_executor(), clock, metrics};
    base::TaskGroup group{context.get_executor()};
    Names taken;

    ~Fixture() {
        group.stop();
        clock.run_for(context, 1s);
    }
    asio::awaitable<void> take() {
        for (;;) {
            const auto key = co_await queue.get();
            taken.push_back(key.str());
            queue.done(key);
        }
    }
    void start() {
        server.put(node("a"));
        server.put(node("b"));
        group.spawn(nodes.run());
        group.spawn(take());
        clock.run_for(context, 1s);
    }
    void edit(const std::string& name, std::function<void(api::Node&)> change) {
        server.edit<api::Node>({"", name}, std::move(change));
    }
    void cordon(const std::string& name, bool on = true) {
        edit(name, [on](api::Node& object) { object.spec.unschedulable = on; });
    }
    void label(const std::string& name, const std::string& value) {
        edit(name, [&value](api::Node& object) { object.metadata.labels->insert_or_assign("to", value); });
    }
    void remove(const std::string& name) { server.remove<api::Node>({"", name}, 0); }
    // Returns the keys that have arrived since the last call.
    Names woken() {
        clock.run_for(context, 100ms);
        return std::exchange(taken, {});
    }
};

std::optional<kube::ObjectKey> label_of(const api::Node& object) {
    const auto* value = api::find(object.metadata.labels, "to");
    if (!value) return std::nullopt;
    return kube::ObjectKey("", *value);
}

}  // namespace

TEST_CASE_METHOD(Fixture, "without a filter each change wakes the object's own key") {
    kube::watch(nodes).enqueue(queue);
    start();
    CHECK(woken() == Names{"a", "b"});
    cordon("a");
    CHECK(woken() == Names{"a"});
    label("b", "x");
    CHECK(woken() == Names{"b"});
    remove("a");
    CHECK(woken() == Names{"a"});
}

TEST_CASE_METHOD(Fixture, "what did not change of an object wakes nobody; its coming and going does") {
    kube::watch(nodes).changed(&api::Node::spec, kube::kLabels).enqueue(queue);
    start();
    CHECK(woken() == Names{"a", "b"});
    edit("a", [](api::Node& object) { object.status.nodeInfo.architecture = "arm64"; });
    CHECK(woken().empty());
    cordon("a");
    CHECK(woken() == Names{"a"});
    label("a", "x");
    CHECK(woken() == Names{"a"});
    remove("a");
    CHECK(woken() == Names{"a"});
}

TEST_CASE_METHOD(Fixture, "an object that is not there is nothing") {
    std::vector<std::string> heard;
    const auto note = [&heard](const char* what) {
        return [&heard, what](const api::Node& object) { heard.push_back(what + object.metadata.name); };
    };
    const auto told = [&] {
        woken();
        return std::exchange(heard, {});
    };
    kube::watch(nodes).became(is_cordoned).call(note("became "));
    kube::watch(nodes).ceased(is_cordoned).call(note("ceased "));
    kube::watch(nodes).flipped(is_cordoned).call(note("flipped "));
    start();
    CHECK(told().empty());
    cordon("a");
    CHECK(told() == Names{"became a", "flipped a"});
    label("a", "x");
    CHECK(told().empty());
    cordon("a", false);
    CHECK(told() == Names{"ceased a", "flipped a"});
    remove("a");
    CHECK(told().empty());
    auto cordoned = node("c");
    cordoned.spec.unschedulable = true;
    server.put(cordoned);
    CHECK(told() == Names{"became c", "flipped c"});
    remove("c");
    CHECK(told() == Names{"ceased c", "flipped c"});
}

TEST_CASE_METHOD(Fixture, "a predicate is asked about the object as it is, or was last") {
    kube::watch(nodes).when(is_cordoned).enqueue(queue);
    start();
    CHECK(woken().empty());
    cordon("a");
    CHECK(woken() == Names{"a"});
    cordon("a", false);
    CHECK(woken().empty());
    cordon("a");
    CHECK(woken() == Names{"a"});
    remove("a");
    CHECK(woken() == Names{"a"});
}

TEST_CASE_METHOD(
    Fixture, "objects may be heard of only while they are there, when they go, or when they come and go") {
    const auto as = [](const std::string& kind) {
        return [kind](const api::Node& object) { return kube::ObjectKey(kind, object.metadata.name); };
    };
    kube::watch(nodes).present().enqueue(queue, as("present"));
    kube::watch(nodes).gone().enqueue(queue, as("gone"));
    kube::watch(nodes).appeared_or_gone().enqueue(queue, as("either"));
    start();
    CHECK(woken() == Names{"present/a", "either/a", "present/b", "either/b"});
    cordon("a");
    CHECK(woken() == Names{"present/a"});
    remove("a");
    CHECK(woken() == Names{"gone/a", "either/a"});
}

TEST_CASE_METHOD(Fixture, "all filters must let a change pass, and declarations that begin alike are apart") {
    const auto cordoned = kube::watch(nodes).became(is_cordoned);
    cordoned.when(label_of).enqueue(queue, label_of);
    cordoned.enqueue(queue);
    start();
    cordon("a");
    CHECK(woken() == Names{"a"});
    label("b", "x");
    CHECK(woken().empty());
    cordon("b");
    CHECK(woken() == Names{"x", "b"});
}

TEST_CASE_METHOD(Fixture, "a change wakes no key, one or several") {
    kube::watch(nodes).enqueue(queue, label_of);
    kube::watch(nodes).gone().enqueue(queue, [](const api::Node& object) {
        return kube::Keys{{"", object.metadata.name}, {"", "others"}};
    });
    start();
    CHECK(woken().empty());
    label("a", "x");
    CHECK(woken() == Names{"x"});
    remove("b");
    CHECK(woken() == Names{"b", "others"});
}

TEST_CASE_METHOD(Fixture, "where an object pointed before is woken too where that is asked for") {
    kube::watch(nodes).before_too().enqueue(queue, label_of);
    start();
    label("a", "x");
    CHECK(woken() == Names{"x"});
    label("a", "y");
    CHECK(woken() == Names{"x", "y"});
    remove("a");
    CHECK(woken() == Names{"y"});
}

TEST_CASE_METHOD(Fixture, "a burst of changes is looked at once, later") {
    kube::watch(nodes).after(5s).enqueue(queue);
    start();
    cordon("a");
    CHECK(woken().empty());
    label("a", "x");
    clock.run_for(context, 5s);
    CHECK(woken() == Names{"a", "b"});
}

// Tests informers on a real kube-apiserver.
#include "kube/informer.hpp"

#include "api/core.hpp"
#include "test/component/kube/cluster.hpp"
#include "test/support/catch.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct Watching : test::Cluster {
    std::string label = fresh_name("watched");
    kube::Informer<api::ConfigMap> informer{client, *loop.clock, *random, loop.context.get_executor(),
                                            options()};
    int added = 0;
    int changed = 0;
    int removed = 0;

    Watching() {
        informer.on_change([this](const api::ConfigMap* before, const api::ConfigMap* after) {
            ++(!before ? added : !after ? removed : changed);
        });
    }
    kube::ListOptions options() const {
        kube::ListOptions result;
        result.namespace_ = "default";
        result.label_selector = "test=" + label;
        return result;
    }
    asio::awaitable<api::ConfigMap> create(std::string name) {
        api::ConfigMap object;
        object.metadata.namespace_ = "default";
        object.metadata.name = label + "-" + name;
        object.metadata.labels["test"] = label;
        return client.create(object);
    }
    asio::awaitable<api::WatchEvent<api::ConfigMap>> first_event_since(std::string version) {
        auto stream =
            co_await client.open("/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=" + version,
                                 std::chrono::seconds(10));
        std::string line;
        while (line.find('\n') == std::string::npos) {
            auto piece = co_await stream->read();
            if (!piece) break;
            line += *piece;
        }
        co_return api::decode_watch_event<api::ConfigMap>(line.substr(0, line.find('\n')));
    }
    kube::ObjectKey key(const std::string& name) const { return {"default", label + "-" + name}; }
};

}  // namespace

TEST_CASE_METHOD(Watching, "an informer follows creations, changes and deletions") {
    loop.run([&]() -> asio::awaitable<void> {
        co_await create("early");
        loop.background.spawn(informer.run());
        co_await informer.wait_synced();
        CHECK(informer.store().size() == 1);
        auto late = co_await create("late");
        co_await wait_until([&] { return added == 2; });
        kube::Patch patch;
        patch.body = {{"data", {{"a", "b"}}}};
        co_await client.patch<api::ConfigMap>(key("late"), patch);
        co_await wait_until([&] { return changed == 1; });
        CHECK(informer.store().get(key("late"))->data.at("a") == "b");
        co_await client.remove<api::ConfigMap>(key("late"));
        co_await wait_until([&] { return removed == 1; });
        CHECK(informer.store().size() == 1);
    });
}

TEST_CASE_METHOD(Watching, "our own write is seen once, by observe or by the watch") {
    loop.run([&]() -> asio::awaitable<void> {
        loop.background.spawn(informer.run());
        co_await informer.wait_synced();
        auto created = co_await create("own");
        informer.observe(created);
        CHECK(added == 1);
        co_await create("marker");
        co_await wait_until([&] { return informer.store().get(key("marker")) != nullptr; });
        CHECK(added == 2);
        CHECK(changed == 0);
    });
}

TEST_CASE_METHOD(Watching,
                 "a restart of the API server is borne: nothing is lost and the store is never emptied") {
    loop.run(
        [&]() -> asio::awaitable<void> {
            co_await create("kept");
            loop.background.spawn(informer.run());
            co_await informer.wait_synced();
            co_await tell("restart", "kube-apiserver");
            std::string failure = "not tried";
            for (int i = 0; i < 200 && !failure.empty(); ++i) {
                failure.clear();
                try {
                    co_await create("after");
                } catch (const std::runtime_error& error) {
                    failure = error.what();
                }
                if (!failure.empty()) co_await loop.clock->sleep_for(100ms);
            }
            REQUIRE(failure.empty());
            co_await wait_until([&] { return informer.store().get(key("after")) != nullptr; });
            CHECK(informer.store().size() == 2);
            CHECK(removed == 0);
            CHECK(added == 2);
            // The new server remembers nothing from before its start. It refuses older versions as the
            // reflector expects.
            auto event = co_await first_event_since("1");
            CHECK(event.type == api::WatchEventType::Error);
            CHECK(event.status.code == 410);
            CHECK(event.status.reason == "Expired");
        },
        90s);
}

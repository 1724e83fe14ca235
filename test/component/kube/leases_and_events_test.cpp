// Tests leader election and Events on a real kube-apiserver.
#include "api/core.hpp"
#include "kube/event_recorder.hpp"
#include "kube/leader_election.hpp"
#include "test/component/kube/cluster.hpp"
#include "test/support/catch.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

}  // namespace

TEST_CASE_METHOD(test::Cluster, "one of two candidates leads, and the other follows when it is released") {
    kube::LeaderElectionOptions options;
    options.lease = {"default", fresh_name("lease")};
    options.lease_duration = 3s;
    options.renew_deadline = 2s;
    options.retry_period = 200ms;
    options.identity = "first";
    auto first = kube::make_leader_elector(client, *loop.clock, *random, options);
    options.identity = "second";
    auto second = kube::make_leader_elector(client, *loop.clock, *random, options);
    loop.run([&]() -> asio::awaitable<void> {
        co_await first->acquire();
        CHECK(first->lease_outlives(2s));
        auto hold = [&]() -> asio::awaitable<void> { co_await first->hold(); };
        auto follow = [&]() -> asio::awaitable<void> { co_await second->acquire(); };
        loop.background.spawn(hold());
        loop.background.spawn(follow());
        co_await loop.clock->sleep_for(4s);
        CHECK(first->is_leader());
        CHECK_FALSE(second->is_leader());
        co_await first->release();
        co_await wait_until([&] { return second->is_leader(); });
        auto lease = co_await client.get<api::Lease>(options.lease);
        REQUIRE(lease);
        CHECK(lease->spec.holderIdentity == "second");
        CHECK(lease->spec.leaseTransitions == 1);
    });
}

TEST_CASE_METHOD(test::Cluster, "Events are accepted, and repeated ones are counted") {
    api::ConfigMap about;
    about.metadata.namespace_ = "default";
    about.metadata.name = fresh_name("about");
    auto writer =
        kube::make_event_writer(client, *loop.clock, *random, loop.context.get_executor(), "component-test");
    loop.run([&]() -> asio::awaitable<void> {
        auto created = co_await client.create(about);
        const auto target = kube::target_of(created);
        for (const char* message : {"one", "two", "one"}) {
            writer->event(target, kube::EventType::normal, "Tested", message);
        }
        co_await writer->flush();
        kube::ListOptions options;
        options.namespace_ = "default";
        options.field_selector = "involvedObject.name=" + about.metadata.name;
        const auto listed = co_await client.list<api::Event>(options);
        const auto& events = listed.objects;
        REQUIRE(events.size() == 2);
        for (const auto& event : events) CHECK(event.count == (event.message == "one" ? 2 : 1));
    });
}

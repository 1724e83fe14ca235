#include "kube/leader_election.hpp"

#include "api/core.hpp"
#include "base/task_group.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/support/seeded_random.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

const kube::ObjectKey kLease{"kube-system", "operator"};

// Network may be cut or slow.
class Network final : public fake::Interference {
public:
    bool cut = false;
    int requests = 0;
    base::Duration latency{};
    std::string hangs;  // requests with this beginning take 25 s
    base::Duration delay(const base::HttpRequest& request) override {
        return !hangs.empty() && request.target.starts_with(hangs) ? base::Duration{25s} : latency;
    }
    std::optional<base::HttpResponse> before(const base::HttpRequest&) override {
        ++requests;
        if (cut) throw base::TransportError("cut", true);
        return std::nullopt;
    }
};

struct Candidate {
    Candidate(asio::io_context& context, fake::VirtualClock& clock, fake::ApiServer& server,
              const std::string& name, std::uint64_t seed)
        : client(server.connect(&network), clock, metrics), group(context.get_executor()) {
        kube::LeaderElectionOptions options;
        options.lease = kLease;
        options.identity = name;
        random = fake::make_seeded_random(seed);
        options.on_restore = [this] { ++restores; };
        elector = kube::make_leader_elector(client, clock, *random, options);
        auto life = [this]() -> asio::awaitable<void> {
            co_await elector->acquire();
            led = true;
            co_await elector->hold();
            lost = true;
        };
        group.spawn(life());
    }
    Network network;
    base::MetricsRegistry metrics;
    std::unique_ptr<base::Random> random;  // differs for each, as epochs do
    kube::Client client;
    std::unique_ptr<kube::LeaderElector> elector;
    bool led = false;
    int restores = 0;
    bool lost = false;
    base::TaskGroup group;
};

struct Fixture {
    asio::io_context context{1};
    fake::VirtualClock clock;
    fake::ApiServer server{context.get_executor(), clock};
    Candidate a{context, clock, server, "a", 3};
    Candidate b;

    // The seed decides when the second candidate tries.
    explicit Fixture(std::uint64_t seed = 5) : b(context, clock, server, "b", seed) {}
    ~Fixture() {
        a.group.stop();
        b.group.stop();
        clock.run_for(context, 1s);
        CHECK(a.group.size() + b.group.size() == 0);
    }
    // Lets time pass, and checks all the time that at most one of them may act.
    void pass(base::Duration duration) {
        for (const auto end = clock.now() + duration; clock.now() < end;) {
            clock.run_for(context, 100ms);
            CHECK_FALSE((a.elector->lease_outlives(0s) && b.elector->lease_outlives(0s)));
        }
    }
    std::string epochs() {
        return server.get<api::Lease>(kLease).value().metadata.annotations->at("kubenodesmith.io/epochs");
    }
    api::LeaseSpec lease() { return server.get<api::Lease>(kLease).value().spec; }
    Candidate& leader() { return a.elector->is_leader() ? a : b; }
    Candidate& other() { return a.elector->is_leader() ? b : a; }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "one of two leads, renews, and stays the only one") {
    pass(60s);
    CHECK(a.led != b.led);
    CHECK(lease().leaseDurationSeconds == 15);
    CHECK(lease().leaseTransitions.value_or(0) == 0);
    CHECK(lease().renewTime->at > lease().acquireTime->at);
    CHECK(leader().elector->lease_outlives(10s));
    CHECK_FALSE(leader().elector->lease_outlives(16s));
}

TEST_CASE_METHOD(Fixture, "a leader renews while a webhook hangs and all other calls wait for it") {
    pass(20s);
    auto& first = leader();
    first.network.hangs = "/api/v1/nodes/";
    const auto call = [&first]() -> asio::awaitable<void> {
        co_await first.client.get_json("/api/v1/nodes/a");
    };
    for (int i = 0; i < 200; ++i) first.group.spawn(call());
    pass(60s);
    CHECK(first.elector->is_leader());
    CHECK_FALSE(first.lost);
}

TEST_CASE_METHOD(Fixture, "a leader renews with one request, and reads only what somebody else wrote") {
    pass(20s);
    auto& first = leader();
    first.network.requests = 0;
    pass(20s);
    CHECK(first.network.requests == 10);
    server.edit<api::Lease>(kLease, [](api::Lease& edited) { edited.metadata.labels["by"] = "user"; });
    pass(10s);
    CHECK(first.elector->is_leader());
    server.edit<api::Lease>(kLease, [](api::Lease& edited) { edited.spec.holderIdentity = "c"; });
    pass(10s);
    CHECK(first.lost);
}

TEST_CASE_METHOD(Fixture, "a leader that is cut off stops before another can begin") {
    pass(20s);
    auto& first = leader();
    auto& second = other();
    first.network.cut = true;
    pass(9s);
    CHECK_FALSE(second.led);
    pass(3s);
    CHECK(first.lost);
    CHECK_FALSE(first.elector->lease_outlives(0s));
    pass(20s);
    CHECK(second.led);
    CHECK(lease().leaseTransitions == 1);
}

TEST_CASE_METHOD(Fixture, "a leader whose calls hang stops in time as well") {
    pass(20s);
    auto& first = leader();
    first.network.latency = 1h;
    pass(13s);
    CHECK(first.lost);
}

TEST_CASE_METHOD(Fixture, "a single call that hangs costs nothing") {
    pass(20s);
    auto& first = leader();
    first.network.latency = 1h;
    pass(3s);
    first.network.latency = {};
    pass(30s);
    CHECK(first.elector->is_leader());
    CHECK_FALSE(first.lost);
}

TEST_CASE_METHOD(Fixture, "a short disturbance costs nothing") {
    pass(20s);
    auto& first = leader();
    first.network.cut = true;
    pass(6s);
    first.network.cut = false;
    pass(30s);
    CHECK(first.elector->is_leader());
    CHECK_FALSE(first.lost);
}

TEST_CASE_METHOD(Fixture,
                 "a lease that is given up is taken at once, and its holder does not count as beaten") {
    pass(20s);
    auto& first = leader();
    auto& second = other();
    test::run(context, clock, first.elector->release());
    CHECK_FALSE(first.elector->is_leader());
    pass(6s);
    CHECK(second.led);
    CHECK(lease().holderIdentity == (&second == &a ? "a" : "b"));
    pass(30s);
    CHECK_FALSE(first.lost);
    CHECK_FALSE(first.elector->is_leader());
}

TEST_CASE_METHOD(Fixture, "calendar time that jumps does not move the lease") {
    pass(20s);
    auto& first = leader();
    clock.shift_wall(1h);
    pass(20s);
    clock.shift_wall(-3h);
    pass(20s);
    CHECK(first.elector->is_leader());
    CHECK_FALSE(other().led);
}

TEST_CASE_METHOD(Fixture, "both candidates notice that the server's data was restored from a backup") {
    pass(30s);
    const auto backup = server.store().back_up();
    pass(1min);
    CHECK(a.restores + b.restores == 0);
    server.restore(backup);
    pass(10s);
    CHECK(a.restores == 1);
    CHECK(b.restores == 1);
    CHECK(leader().elector->lease_outlives(0s));
    pass(1min);
    CHECK(a.restores + b.restores == 2);
}

TEST_CASE("a lease that is not in the backup is made again by its holder, and that is a restore as well") {
    const auto seed = GENERATE(1U, 2U, 4U, 5U, 6U, 7U, 8U);
    CAPTURE(seed);
    Fixture scene(seed);
    const auto backup = scene.server.store().back_up();
    scene.pass(1min);
    scene.server.restore(backup);
    scene.pass(30s);
    CHECK(scene.a.restores + scene.b.restores >= 1);
    CHECK(scene.leader().elector->lease_outlives(0s));
}

TEST_CASE("nobody leads beside the leader after a restore from the time before it led") {
    const auto seed = GENERATE(1U, 2U, 4U, 5U, 6U, 7U, 8U);
    CAPTURE(seed);
    Fixture scene(seed);
    scene.pass(30s);
    auto& former = scene.leader();
    auto& next = scene.other();
    test::run(scene.context, scene.clock, former.elector->release());
    const auto backup = scene.server.store().back_up();
    Candidate third{scene.context, scene.clock, scene.server, "c", 10 + seed};
    scene.pass(30s);
    auto& leads = third.elector->is_leader() ? third : next;
    auto& waits = third.elector->is_leader() ? next : third;
    REQUIRE(leads.elector->is_leader());
    scene.server.restore(backup);
    for (int passed = 0; passed < 300; ++passed) {
        scene.clock.run_for(scene.context, 100ms);
        CHECK_FALSE((leads.elector->lease_outlives(0s) && waits.elector->lease_outlives(0s)));
    }
    CHECK(leads.elector->is_leader());
    third.group.stop();
    scene.clock.run_for(scene.context, 1s);
}

TEST_CASE_METHOD(Fixture, "the Lease has the epochs of all its leaders, the newest last") {
    pass(20s);
    auto& first = leader();
    auto& second = other();
    const auto epoch = first.elector->epochs().own;
    CHECK(epoch.size() == 16);
    CHECK(first.elector->epochs().chain == std::vector{epoch});
    CHECK(epochs() == epoch);
    first.network.cut = true;
    pass(40s);
    CHECK(second.led);
    const auto& next = second.elector->epochs();
    CHECK(next.own != epoch);
    CHECK(next.chain == std::vector{epoch, next.own});
    CHECK(epochs() == epoch + "," + next.own);
}

TEST_CASE_METHOD(Fixture, "a leader writes the epochs again that somebody removed from the Lease") {
    pass(20s);
    leader().network.cut = true;
    pass(40s);
    auto& first = a.lost ? a : b;
    const auto chain = first.elector->epochs().own + "," + leader().elector->epochs().own;
    CHECK(epochs() == chain);
    server.edit<api::Lease>(kLease, [](api::Lease& edited) { edited.metadata.annotations = {}; });
    pass(10s);
    CHECK(epochs() == chain);
}

TEST_CASE_METHOD(Fixture, "the Lease keeps the last 1000 epochs") {
    std::string many = "0";
    for (int i = 1; i < 1006; ++i) many += "," + std::to_string(i);
    api::Lease lease;
    lease.metadata.namespace_ = kLease.namespace_;
    lease.metadata.name = kLease.name;
    lease.metadata.annotations["kubenodesmith.io/epochs"] = many;
    server.put(lease);
    pass(20s);
    const auto& chain = leader().elector->epochs().chain;
    CHECK(chain.size() == 1000);
    CHECK(chain.front() == "7");
    CHECK(chain.back() == leader().elector->epochs().own);
}

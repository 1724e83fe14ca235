// The operator's calendar for decisions follows the API server's and never jumps.
#include "kube/server_clock.hpp"

#include <boost/asio/io_context.hpp>

#include "api/core.hpp"
#include "kube/client.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/run_coroutine.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// HostClock is the clock of the operator's host, whose calendar is independent.
class HostClock final : public base::Clock {
public:
    explicit HostClock(fake::VirtualClock& world) : world_(world) {}
    base::TimePoint now() const override { return world_.now(); }
    base::WallTime wall_now() const override { return world_.wall_now() + error; }
    std::unique_ptr<base::Alarm> call_at(base::TimePoint deadline, std::function<void()> callback) override {
        return world_.call_at(deadline, std::move(callback));
    }
    base::Duration error{};

private:
    fake::VirtualClock& world_;
};

struct Fixture {
    asio::io_context context{1};
    fake::VirtualClock world;
    HostClock host{world};
    base::MetricsRegistry metrics;
    fake::ApiServer server{context.get_executor(), world};
    kube::ServerClock clock{host, metrics};
    kube::Client client{clock.listen(server.connect()), clock, metrics};

    void ask() { test::run(context, world, client.get<api::Namespace>({"", "kube-system"})); }
    void ask_for(base::Duration duration) {
        for (const auto end = world.now() + duration; world.now() < end;) {
            world.run_for(context, 2s);
            ask();
        }
    }
    // Returns the difference between the operator's calendar and the API server's.
    std::chrono::seconds error() const {
        return std::chrono::duration_cast<std::chrono::seconds>(clock.wall_now() - world.wall_now());
    }
    std::chrono::seconds readers_error() const {
        return std::chrono::duration_cast<std::chrono::seconds>(clock.readers_now() - world.wall_now());
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the calendar is the API server's, whatever the host's clock says") {
    server.put(api::Namespace{.metadata = {.name = "kube-system"}});
    for (const auto error : {base::Duration(15min), base::Duration(-15min), base::Duration(24h * 365)}) {
        kube::ServerClock own(host, metrics);
        kube::Client of_own(own.listen(server.connect()), own, metrics);
        host.error = error;
        CHECK(own.wall_now() == host.wall_now());  // there is no better knowledge yet
        test::run(context, world, of_own.get<api::Namespace>({"", "kube-system"}));
        CHECK(std::chrono::abs(own.wall_now() - world.wall_now()) <= 1s);
        world.run_for(context, 1h);
        CHECK(std::chrono::abs(own.wall_now() - world.wall_now()) <= 1s);
    }
}

TEST_CASE_METHOD(Fixture, "a jump of the host's clock changes nothing") {
    server.put(api::Namespace{.metadata = {.name = "kube-system"}});
    ask();
    for (const auto error : {base::Duration(20min), base::Duration(-3h)}) {
        host.error = error;
        CHECK(std::chrono::abs(clock.lead() - error) <= 1s);
        CHECK(this->error() == 0s);
        ask_for(1min);
        CHECK(this->error() == 0s);
    }
}

TEST_CASE_METHOD(Fixture, "a jump of the API server's clock is followed by a tenth of the time that passes") {
    server.put(api::Namespace{.metadata = {.name = "kube-system"}});
    ask();
    for (const auto jump : {std::chrono::seconds{600}, std::chrono::seconds{-600}}) {
        world.shift_wall(jump);
        ask();
        CHECK(std::chrono::abs(error() + jump) <= 1s);
        // Times that others compare with their own clocks follow the server's clock immediately.
        CHECK(std::chrono::abs(readers_error()) <= 1s);
        ask_for(1000s);
        CHECK(std::chrono::abs(error() + jump - jump / 6) <= 2s);
        ask_for(2h);
        CHECK(std::chrono::abs(error()) <= 1s);
    }
}

TEST_CASE_METHOD(Fixture, "a long silence is no reason to catch up in one step") {
    server.put(api::Namespace{.metadata = {.name = "kube-system"}});
    ask();
    world.shift_wall(1h);
    world.run_for(context, 10h);
    ask();
    CHECK(std::chrono::abs(error() + 1h) <= 2s);
}

TEST_CASE_METHOD(Fixture, "the difference of the clocks is told, with what it does") {
    server.put(api::Namespace{.metadata = {.name = "kube-system"}});
    ask();
    CHECK(clock.describe_difference().empty());
    host.error = -15min;
    ask();
    CHECK(clock.describe_difference().find("15m0s behind the API server's") != std::string::npos);
    CHECK(clock.describe_difference().find("not valid yet") != std::string::npos);
    host.error = 15min;
    CHECK(clock.describe_difference().find("ahead of the API server's") != std::string::npos);
    CHECK(metrics.exposition().find("kubenodesmith_clock_lead_seconds 900") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "answers that are no successes say nothing of the time") {
    host.error = 15min;
    ask();  // 404: the namespace does not exist
    CHECK(clock.wall_now() == host.wall_now());
}

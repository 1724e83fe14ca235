#include "operator/process_metrics.hpp"

#include <boost/asio/post.hpp>
#include <ctime>

#include "test/support/catch.hpp"
#include "test/support/virtual_clock.hpp"

namespace {

using namespace std::chrono_literals;

void spend(std::clock_t ticks) {
    const auto begin = std::clock();
    while (std::clock() - begin < ticks) {
    }
}

struct World {
    boost::asio::io_context loop{1};
    fake::VirtualClock clock;
    base::MetricsRegistry metrics;
    kubenodesmith::LoopWatch watch{metrics, clock};

    double longest() {
        const auto text = metrics.exposition();
        const auto name = text.find("\nkubenodesmith_loop_longest_seconds ");
        return std::stod(text.substr(text.find(' ', name + 1)));
    }
    void hold(std::clock_t ticks) {
        boost::asio::post(loop, [ticks] { spend(ticks); });
        loop.restart();
        watch.run(loop);
    }
};

}  // namespace

TEST_CASE("the longest single thing is told, not the sum") {
    World world;
    for (int i = 0; i < 5; ++i) boost::asio::post(world.loop, [] { spend(CLOCKS_PER_SEC / 100); });
    world.hold(CLOCKS_PER_SEC / 20);
    CHECK(world.longest() >= 0.05);
    CHECK(world.longest() < 0.1);
}

TEST_CASE("what held the loop is forgotten after some minutes") {
    World world;
    world.hold(CLOCKS_PER_SEC / 20);
    world.clock.run_for(world.loop, 6min);
    CHECK(world.longest() >= 0.05);
    world.clock.run_for(world.loop, 6min);
    CHECK(world.longest() < 0.05);
    world.hold(CLOCKS_PER_SEC / 20);
    world.clock.run_for(world.loop, 60min);
    CHECK(world.longest() < 0.05);
}

// Tests that names whose servers are silent keep no other names from being looked up.
#include "base/name_lookup.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "test/component/base/loop.hpp"

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

// Servers answers at once for all names but those that begin with "silent", until they are let go.
struct Servers {
    std::mutex mutex;
    std::condition_variable released;
    bool is_released = false;
    std::atomic<int> asked = 0, silent = 0;

    base::NameLookups::Answer resolve(const std::string& host) {
        ++asked;
        std::unique_lock lock(mutex);
        if (host.starts_with("silent")) {
            ++silent;
            released.wait(lock, [this] { return is_released; });
            --silent;
        }
        return {{}, {asio::ip::make_address("192.0.2.1")}};
    }
    void hold() {
        const std::lock_guard lock(mutex);
        is_released = false;
    }
    void release() {
        const std::lock_guard lock(mutex);
        is_released = true;
        released.notify_all();
    }
};

struct Fixture : test::Loop {
    std::shared_ptr<Servers> servers = std::make_shared<Servers>();
    base::NameLookups lookups{context.get_executor(),
                              [servers = servers](const std::string& host) { return servers->resolve(host); },
                              4};
    ~Fixture() { servers->release(); }

    asio::awaitable<bool> finds(std::string host, base::Duration patience) {
        try {
            const auto answer = co_await lookups.find(*clock, std::move(host), clock->now() + patience);
            co_return answer.addresses.size() == 1;
        } catch (const std::runtime_error&) {
            co_return false;
        }
    }
    asio::awaitable<void> asks(std::string host) { co_await finds(std::move(host), 100ms); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "all who wait for a name share one lookup") {
    run([&]() -> asio::awaitable<void> {
        for (int i = 0; i < 20; ++i) background.spawn(asks("silent"));
        while (servers->silent < 1) co_await clock->sleep_for(1ms);
        const bool is_found = co_await finds("quick", 10s);
        CHECK(is_found);
        CHECK(servers->asked == 2);
    });
}

TEST_CASE_METHOD(Fixture, "silent names take half of the places once they are known") {
    run([&]() -> asio::awaitable<void> {
        for (int i = 0; i < 4; ++i) background.spawn(asks("silent-" + std::to_string(i)));
        while (servers->silent < 4) co_await clock->sleep_for(1ms);
        // A lookup counts as slow after two seconds.
        co_await clock->sleep_for(2100ms);
        servers->release();
        while (servers->silent > 0) co_await clock->sleep_for(1ms);
        co_await clock->sleep_for(10ms);
        servers->hold();
        for (int i = 0; i < 4; ++i) background.spawn(asks("silent-" + std::to_string(i)));
        while (servers->silent < 2) co_await clock->sleep_for(1ms);
        const bool is_found = co_await finds("quick", 10s);
        CHECK(is_found);
        CHECK(servers->silent == 2);
    });
}

TEST_CASE("a lookup may outlive those who began it") {
    auto servers = std::make_shared<Servers>();
    {
        test::Loop loop;
        base::NameLookups lookups{loop.context.get_executor(),
                                  [servers](const std::string& host) { return servers->resolve(host); }};
        loop.run([&]() -> asio::awaitable<void> {
            CHECK_THROWS_WITH(co_await lookups.find(*loop.clock, "silent", loop.clock->now() + 10ms),
                              "looking up silent: timed out");
        });
    }
    servers->release();
}

TEST_CASE("names are looked up by the system") {
    test::Loop loop;
    loop.run([&]() -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        const auto found =
            co_await base::look_up(executor, *loop.clock, "localhost", loop.clock->now() + 10s);
        CHECK_FALSE(found.empty());
    });
}

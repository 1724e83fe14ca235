#include "test/unit/proxmox_simulator/driver.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include "test/simulators/proxmox/core/transport.hpp"
#include "test/support/catch.hpp"
#include "test/support/seeded_random.hpp"

namespace proxmox_simulator::test {
namespace {

std::string encoded(const std::string& upid) {
    std::string result;
    for (char c : upid) {
        if (c == ':' || c == '@' || c == '!')
            result += "%" + std::string(c == ':' ? "3A" : c == '@' ? "40" : "21");
        else
            result += c;
    }
    return result;
}

asio::awaitable<void> exchange(Simulator& simulator, base::HttpRequest request, base::Clock& clock,
                               std::shared_ptr<std::optional<Answer>> slot) {
    const auto started = clock.now();
    Answer answer;
    SimulatorTransport transport(simulator);
    try {
        auto response = co_await transport.send(std::move(request));
        answer.status = response.status;
        answer.reason = response.reason;
        answer.body = response.body;
    } catch (const base::TransportError&) {
        answer.lost = true;
    }
    answer.took = clock.now() - started;
    *slot = std::move(answer);
}

}  // namespace

json::value Answer::data() const {
    REQUIRE(body.starts_with('{'));
    return json::parse(body).at("data");
}

std::vector<std::string> Answer::errors() const {
    std::vector<std::string> names;
    const auto parsed = json::parse(body);
    if (const auto* wrong = parsed.as_object().if_contains("errors")) {
        for (const auto& [name, why] : wrong->as_object()) names.emplace_back(name);
    }
    return names;
}

Driver::Driver(World initial, std::uint64_t seed)
    : random(fake::make_seeded_random(seed)),
      simulator(context.get_executor(), clock, *random, std::move(initial)) {}

Driver::~Driver() {
    bool done = false;
    asio::co_spawn(context, simulator.shut_down(), [&](std::exception_ptr) { done = true; });
    while (!done) wait(10ms);
}

base::HttpRequest Driver::request(std::string method, const std::string& path, std::string form) const {
    base::HttpRequest result;
    result.method = std::move(method);
    result.target = "/api2/json" + path;
    result.body = std::move(form);
    result.headers.set("Authorization", token);
    result.timeout = std::chrono::minutes{5};
    return result;
}

std::shared_ptr<std::optional<Answer>> Driver::start(base::HttpRequest request) {
    auto slot = std::make_shared<std::optional<Answer>>();
    asio::co_spawn(context, exchange(simulator, std::move(request), clock, slot),
                   [](std::exception_ptr failure) {
                       if (failure) std::rethrow_exception(failure);
                   });
    return slot;
}

Answer Driver::send(base::HttpRequest request) {
    auto slot = start(std::move(request));
    for (int turns = 0; !*slot && turns < 600'000; ++turns) wait(1ms);
    REQUIRE(slot->has_value());
    return **slot;
}

Answer Driver::send(std::string method, std::string path, std::string form) {
    return send(request(std::move(method), path, std::move(form)));
}

std::string Driver::finish(const Answer& answer) {
    INFO(answer.reason);
    REQUIRE(answer.status == 200);
    std::string upid(answer.data().as_string());
    auto path = "/nodes/" + upid.substr(5, upid.find(':', 5) - 5) + "/tasks/" + encoded(upid) + "/status";
    for (;;) {
        auto task = get(path).data();
        if (task.at("status").as_string() == "stopped") return std::string(task.at("exitstatus").as_string());
        wait(100ms);
    }
}

}  // namespace proxmox_simulator::test

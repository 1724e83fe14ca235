#include "test/component/kube/cluster.hpp"

#include "base/process.hpp"
#include "kube/transport.hpp"

namespace test {

Cluster::Cluster()
    : config(kube::load_config({})),
      client(kube::make_transport(loop.context.get_executor(), *loop.clock, config), *loop.clock, metrics) {}

std::string Cluster::fresh_name(const std::string& prefix) {
    return prefix + "-" + random->text(8, "abcdefghijklmnopqrstuvwxyz");
}

asio::awaitable<void> Cluster::wait_until(std::function<bool()> condition) {
    const auto deadline = loop.clock->now() + std::chrono::seconds(20);
    while (!condition() && loop.clock->now() < deadline) {
        co_await loop.clock->sleep_for(std::chrono::milliseconds(10));
    }
    REQUIRE(condition());
}

asio::awaitable<void> Cluster::tell(std::string command, std::string program) {
    base::ProcessCommand tool;
    tool.program = "python3";
    tool.arguments = {base::environment_variable("CLUSTER_TOOL"), "--state",
                      base::environment_variable("CLUSTER_STATE"), std::move(command), std::move(program)};
    tool.timeout = std::chrono::seconds(60);
    auto result = co_await base::run_process(*loop.clock, tool);
    REQUIRE(result.exit_code == 0);
}

}  // namespace test

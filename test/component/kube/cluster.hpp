// The real control plane that with_cluster.sh has started, and a client of it.
#pragma once

#include <memory>
#include <string>

#include "base/random.hpp"
#include "kube/client.hpp"
#include "kube/config.hpp"
#include "test/component/base/loop.hpp"

namespace test {

struct Cluster {
    Cluster();

    Loop loop;
    base::MetricsRegistry metrics;
    std::unique_ptr<base::Random> random = base::make_system_random();
    kube::ClusterConfig config;
    kube::Client client;
    std::string namespace_ = "default";

    // Returns a name that no other test uses.
    std::string fresh_name(const std::string& prefix);
    // Polls the condition. Fails the test if it does not become true within 20 s.
    asio::awaitable<void> wait_until(std::function<bool()> condition);
    // Sends a command to cluster.py: "kill" or "restart".
    asio::awaitable<void> tell(std::string command, std::string program);
};

}  // namespace test

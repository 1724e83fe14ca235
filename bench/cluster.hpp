// Cluster is a client with a separate loop, for benchmarks with a real API server.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "base/random.hpp"
#include "kube/client.hpp"

namespace bench {

namespace asio = boost::asio;

class Cluster {
public:
    // Throws kube::ConfigError.
    explicit Cluster(const std::string& kubeconfig, std::size_t max_in_flight);

    // Runs until `work` has ended, and rethrows its failure.
    void run(asio::awaitable<void> work);

    asio::any_io_executor executor() { return loop_.get_executor(); }
    base::Clock& clock() { return *clock_; }
    base::Random& random() { return *random_; }
    kube::Client& client() { return *client_; }

private:
    asio::io_context loop_{1};
    std::unique_ptr<base::Clock> clock_;
    std::unique_ptr<base::Random> random_;
    base::MetricsRegistry metrics_;
    std::unique_ptr<kube::Client> client_;
};

// Runs a benchmark's main, prints the message of a failure, and returns the exit code.
int guarded(const std::function<void()>& body);

}  // namespace bench

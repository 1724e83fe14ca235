// A client on a loop of its own, as benchmarks against a real API server need it.
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

    // Runs until `work` has ended; rethrows its failure.
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

// Runs a benchmark's main: prints what a failure says, and returns the exit code.
int guarded(const std::function<void()>& body);

}  // namespace bench

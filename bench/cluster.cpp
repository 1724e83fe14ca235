#include "bench/cluster.hpp"

#include <boost/asio/co_spawn.hpp>
#include <cstdio>
#include <exception>
#include <utility>

#include "kube/config.hpp"
#include "kube/transport.hpp"

namespace bench {

Cluster::Cluster(const std::string& kubeconfig, std::size_t max_in_flight)
    : clock_(base::make_steady_clock(loop_.get_executor())), random_(base::make_system_random()) {
    auto config = kube::load_config({kubeconfig, ""});
    client_ =
        std::make_unique<kube::Client>(kube::make_transport(loop_.get_executor(), *clock_, std::move(config)),
                                       *clock_, metrics_, max_in_flight);
}

void Cluster::run(asio::awaitable<void> work) {
    std::exception_ptr failure;
    asio::co_spawn(loop_, std::move(work), [&](std::exception_ptr thrown) {
        failure = std::move(thrown);
        loop_.stop();
    });
    loop_.run();
    loop_.restart();
    if (failure) std::rethrow_exception(failure);
}

int guarded(const std::function<void()>& body) {
    try {
        body();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

}  // namespace bench

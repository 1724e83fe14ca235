#include "operator/command_line/cluster_session.hpp"

namespace kubenodesmith {

ClusterSession::ClusterSession(const ClientOptions& options)
    : clock_(base::make_steady_clock(loop_.get_executor())) {
    auto config = kube::load_config(options.cluster);
    url_ = config.http.url;
    if (!config.namespace_.empty()) namespace_name_ = config.namespace_;
    if (!options.namespace_.empty()) namespace_name_ = options.namespace_;
    client_ = std::make_unique<kube::Client>(
        kube::make_transport(loop_.get_executor(), *clock_, std::move(config)), *clock_, metrics_);
}

ClusterSession::ClusterSession(const Connect& connect)
    : clock_(base::make_steady_clock(loop_.get_executor())),
      client_(std::make_unique<kube::Client>(connect(loop_.get_executor(), *clock_), *clock_, metrics_)) {}

void ClusterSession::run_to_end(boost::asio::awaitable<void> work) {
    std::exception_ptr failure;
    loop_.restart();
    boost::asio::co_spawn(loop_, std::move(work),
                          [&failure](const std::exception_ptr& error) { failure = error; });
    loop_.run();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace kubenodesmith

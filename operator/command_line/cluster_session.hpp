// An API server client for commands that send a few requests, one after the other, and end.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "kube/client.hpp"
#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

class ClusterSession {
public:
    using Connect =
        std::function<std::unique_ptr<base::HttpTransport>(boost::asio::any_io_executor, base::Clock&)>;

    // Throws kube::ConfigError.
    explicit ClusterSession(const ClientOptions& options);
    // For tests.
    explicit ClusterSession(const Connect& connect);

    kube::Client& client() { return *client_; }
    base::Clock& clock() { return *clock_; }
    api::Time now() const { return api::Time(clock_->wall_now()); }
    const std::string& url() const { return url_; }
    // Returns the namespace of objects that are named without one. It is from the flag -n, otherwise from the
    // kubeconfig's context.
    const std::string& namespace_() const { return namespace_name_; }

    // Runs the coroutine until it ends. Rethrows its exceptions.
    template <class T>
    T run(boost::asio::awaitable<T> work) {
        std::optional<T> result;
        run_to_end(
            [](boost::asio::awaitable<T> inner, std::optional<T>& target) -> boost::asio::awaitable<void> {
                target.emplace(co_await std::move(inner));
            }(std::move(work), result));
        return std::move(*result);
    }
    void run(boost::asio::awaitable<void> work) { run_to_end(std::move(work)); }

private:
    void run_to_end(boost::asio::awaitable<void> work);

    boost::asio::io_context loop_{1};
    std::unique_ptr<base::Clock> clock_;
    base::MetricsRegistry metrics_;
    std::unique_ptr<kube::Client> client_;
    std::string url_;
    std::string namespace_name_ = "default";
};

}  // namespace kubenodesmith

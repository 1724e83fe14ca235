// An API server client for commands that send a few requests, one after the other, and end.
#pragma once

#include <functional>
#include <memory>

#include "base/metrics.hpp"
#include "kube/client.hpp"
#include "operator/command_line/client_options.hpp"
#include "operator/command_line/event_loop.hpp"

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
    base::Clock& clock() { return loop_.clock(); }
    api::Time now() const { return api::Time(loop_.clock().wall_now()); }
    const std::string& url() const { return url_; }
    // Returns the namespace of objects that are named without one. It is from the flag -n, otherwise from the
    // kubeconfig's context.
    const std::string& namespace_() const { return namespace_name_; }

    // Runs the coroutine until it ends. Rethrows its exceptions.
    template <class T>
    T run(boost::asio::awaitable<T> work) {
        return loop_.run(std::move(work));
    }
    void run(boost::asio::awaitable<void> work) { loop_.run(std::move(work)); }

private:
    EventLoop loop_;
    base::MetricsRegistry metrics_;
    std::unique_ptr<kube::Client> client_;
    std::string url_;
    std::string namespace_name_ = "default";
};

}  // namespace kubenodesmith

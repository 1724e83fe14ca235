// bench-api-server --pods N --nodes N --updates N --kubeconfig F: Runs a GeneratedCluster as a server on a
// free port of 127.0.0.1 until it is ended. It writes a kubeconfig, then prints "ready".
#include <CLI/CLI.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdio>
#include <fstream>

#include "base/http_server.hpp"
#include "base/task_group.hpp"
#include "bench/cluster.hpp"
#include "bench/informer/generated_cluster.hpp"

namespace {

namespace asio = boost::asio;
using asio::awaitable;

// A watch without changes ends after this; the client waits 30 s for the head of an answer.
constexpr base::Duration kWatchLifetime = std::chrono::seconds{20};

void write_kubeconfig(const std::string& file, std::uint16_t port) {
    std::ofstream out(file);
    out << R"({"apiVersion": "v1", "kind": "Config", "current-context": "bench",
 "clusters": [{"name": "bench", "cluster": {"server": "http://127.0.0.1:)"
        << port << R"("}}],
 "users": [{"name": "bench", "user": {}}],
 "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}]})";
    if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

class Server {
public:
    Server(asio::io_context& loop, bench::GeneratedCluster cluster)
        : clock_(base::make_steady_clock(loop.get_executor())), cluster_(cluster) {
        base::HttpServerOptions options;
        server_ = base::make_http_server(loop.get_executor(), *clock_, options,
                                         [this](base::HttpRequest request) { return answer(request); });
    }
    std::uint16_t port() const { return server_->port(); }
    awaitable<void> run() { return server_->run(); }

private:
    awaitable<base::HttpResponse> answer(base::HttpRequest request) {
        auto response = cluster_.answer(request);
        if (response) co_return std::move(*response);
        co_await clock_->sleep_for(kWatchLifetime);
        co_return bench::GeneratedCluster::bookmark();
    }

    std::unique_ptr<base::Clock> clock_;
    bench::GeneratedCluster cluster_;
    std::unique_ptr<base::HttpServer> server_;
};

void serve(bench::GeneratedCluster cluster, const std::string& kubeconfig) {
    asio::io_context loop{1};
    Server server(loop, cluster);
    write_kubeconfig(kubeconfig, server.port());
    base::TaskGroup running(loop.get_executor());
    running.spawn(server.run());
    asio::signal_set signals(loop, SIGINT, SIGTERM);
    signals.async_wait([&running](auto, int) { running.stop(); });
    std::puts("ready");
    std::fflush(stdout);
    loop.run();
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Serves a generated cluster to the benchmarks."};
    int pods = 150'000;
    int nodes = 5000;
    int updates = 0;
    std::string kubeconfig;
    app.add_option("--pods", pods, "how many pods")->check(CLI::NonNegativeNumber)->capture_default_str();
    app.add_option("--nodes", nodes, "how many nodes")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--updates", updates, "how many changes of pods the watch tells")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--kubeconfig", kubeconfig, "file to write")->required();
    CLI11_PARSE(app, argc, argv);
    return bench::guarded([&] { serve(bench::GeneratedCluster(pods, nodes, updates), kubeconfig); });
}

// bench-informer --kubeconfig F: fills the operator's informers from a cluster that has the CRDs of
// KubeNodeSmith, then downloads the same pods and nodes without looking at them. Prints one line; sizes are
// of the process after the sync.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <utility>

#include "api/core.hpp"
#include "bench/cluster.hpp"
#include "controllers/informers.hpp"

namespace {

using boost::asio::awaitable;

struct Figures {
    std::size_t pods = 0;
    std::size_t nodes = 0;
    double sync_seconds = 0;
    double cpu_seconds = 0;
    long idle_kib = 0;  // before anything was read
    long rss_kib = 0;
    long peak_kib = 0;
    double download_seconds = 0;
    std::size_t download_bytes = 0;
};

// A line of /proc/self/status in KiB: "VmRSS", "VmHWM".
long memory_kib(const std::string& name) {
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line)) {
        if (line.starts_with(name + ":")) return std::stol(line.substr(name.size() + 1));
    }
    return 0;
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

constexpr base::Duration kSilence = std::chrono::minutes{1};

class Stopwatch {
public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

awaitable<std::size_t> download(kube::Client& client, std::string target) {
    auto stream = co_await client.open(target, kSilence);
    if (stream->head().status != 200) throw std::runtime_error("GET " + target + " was refused");
    std::size_t bytes = 0;
    for (;;) {
        const auto piece = co_await stream->read();
        if (!piece) break;
        bytes += piece->size();
    }
    co_return bytes;
}

awaitable<void> measure(bench::Cluster& cluster, Figures& figures) {
    controllers::Informers informers(cluster.client(), cluster.clock(), cluster.random(), cluster.executor());
    base::TaskGroup running(cluster.executor());
    figures.idle_kib = memory_kib("VmRSS");
    const double cpu_before = cpu_seconds();
    const Stopwatch sync;
    informers.spawn_all(running);
    co_await informers.wait_synced();
    figures.sync_seconds = sync.seconds();
    figures.cpu_seconds = cpu_seconds() - cpu_before;
    figures.rss_kib = memory_kib("VmRSS");
    figures.peak_kib = memory_kib("VmHWM");
    figures.pods = informers.pods.store().all().size();
    figures.nodes = informers.nodes.store().all().size();
    const Stopwatch plain;
    for (const auto* target : {"/api/v1/pods", "/api/v1/nodes"})
        figures.download_bytes += co_await download(cluster.client(), target);
    figures.download_seconds = plain.seconds();
    running.stop();
    co_await running.join();
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Fills the operator's informers from a cluster and says what that took."};
    std::string kubeconfig;
    app.add_option("--kubeconfig", kubeconfig, "of the cluster")->required();
    CLI11_PARSE(app, argc, argv);
    return bench::guarded([&] {
        Figures figures;
        bench::Cluster cluster(kubeconfig, 32);
        cluster.run(measure(cluster, figures));
        std::printf(
            "pods=%zu nodes=%zu sync_seconds=%.3f cpu_seconds=%.3f rss_kib=%ld peak_kib=%ld idle_kib=%ld "
            "download_seconds=%.3f download_bytes=%zu\n",
            figures.pods, figures.nodes, figures.sync_seconds, figures.cpu_seconds, figures.rss_kib,
            figures.peak_kib, figures.idle_kib, figures.download_seconds, figures.download_bytes);
    });
}

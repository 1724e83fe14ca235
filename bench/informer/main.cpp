// bench-informer --kubeconfig F: Fills the operator's informers from a cluster with KubeNodeSmith's CRDs.
// Then it downloads the same pods and nodes without decoding them. It prints one line; the sizes are those of
// the process after the sync. With --updates N it then waits until that many changes of pods were received
// and handled.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <utility>

#include "api/core.hpp"
#include "base/condition_variable.hpp"
#include "bench/cluster.hpp"
#include "bench/cpu_time.hpp"
#include "controllers/cache/informers.hpp"

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
    int updates = 0;
    double update_cpu_seconds = 0;
};

// Returns a line of /proc/self/status in KiB: "VmRSS", "VmHWM".
long memory_kib(const std::string& name) {
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line)) {
        if (line.starts_with(name + ":")) return std::stol(line.substr(name.size() + 1));
    }
    return 0;
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

awaitable<void> download_all(kube::Client& client, Figures& figures) {
    const Stopwatch plain;
    for (const auto* target : {"/api/v1/pods", "/api/v1/nodes"})
        figures.download_bytes += co_await download(client, target);
    figures.download_seconds = plain.seconds();
}

// Updates counts changes of pods after the sync.
class Updates {
public:
    Updates(bench::Cluster& cluster, controllers::Informers& informers, int wanted)
        : wanted_(wanted), done_(cluster.executor()) {
        informers.pods.on_change([this](const api::Pod* before, const api::Pod* after) {
            if (!before || !after) return;
            if (seen_++ == 0) first_ = bench::cpu_seconds();
            if (seen_ == wanted_) done_.notify_all();
        });
    }
    int seen() const { return seen_; }
    awaitable<void> wait() {
        while (seen_ < wanted_) co_await done_.wait();
    }
    double cpu_seconds_since_first() const { return seen_ > 0 ? bench::cpu_seconds() - first_ : 0; }

private:
    int wanted_;
    int seen_ = 0;
    double first_ = 0;
    base::ConditionVariable done_;
};

awaitable<void> measure(bench::Cluster& cluster, int updates_wanted, bool with_download, Figures& figures) {
    controllers::Informers informers(cluster.client(), cluster.clock(), cluster.random(), cluster.executor());
    Updates updates(cluster, informers, updates_wanted);
    base::TaskGroup running(cluster.executor());
    figures.idle_kib = memory_kib("VmRSS");
    const double cpu_before = bench::cpu_seconds();
    const Stopwatch sync;
    informers.spawn_all(running);
    co_await informers.wait_synced();
    figures.sync_seconds = sync.seconds();
    figures.cpu_seconds = bench::cpu_seconds() - cpu_before;
    figures.rss_kib = memory_kib("VmRSS");
    figures.peak_kib = memory_kib("VmHWM");
    figures.pods = informers.pods.store().all().size();
    figures.nodes = informers.nodes.store().all().size();
    co_await updates.wait();
    figures.updates = updates.seen();
    figures.update_cpu_seconds = updates.cpu_seconds_since_first();
    if (with_download) co_await download_all(cluster.client(), figures);
    running.stop();
    co_await running.join();
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Fills the operator's informers from a cluster and says what that took."};
    std::string kubeconfig;
    int updates = 0;
    bool no_download = false;
    app.add_option("--kubeconfig", kubeconfig, "of the cluster")->required();
    app.add_option("--updates", updates, "changes of pods to wait for")->check(CLI::NonNegativeNumber);
    app.add_flag("--no-download", no_download, "leave the plain download out");
    CLI11_PARSE(app, argc, argv);
    return bench::guarded([&] {
        Figures figures;
        bench::Cluster cluster(kubeconfig, 32);
        cluster.run(measure(cluster, updates, !no_download, figures));
        std::printf(
            "pods=%zu nodes=%zu sync_seconds=%.3f cpu_seconds=%.3f rss_kib=%ld peak_kib=%ld idle_kib=%ld "
            "download_seconds=%.3f download_bytes=%zu",
            figures.pods, figures.nodes, figures.sync_seconds, figures.cpu_seconds, figures.rss_kib,
            figures.peak_kib, figures.idle_kib, figures.download_seconds, figures.download_bytes);
        if (figures.updates > 0)
            std::printf(" updates=%d updates_per_cpu_second=%.0f", figures.updates,
                        figures.updates / figures.update_cpu_seconds);
        std::puts("");
    });
}

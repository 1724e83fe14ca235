// bench-footprint: Fills the operator's informers from a small cluster in memory. Exit code 1: a pod or a
// node needs more memory than the limit, or there are too many requests. It is also a test.
#include <malloc.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "bench/informer/generated_cluster.hpp"
#include "controllers/cache/informers.hpp"
#include "test/support/seeded_random.hpp"
#include "test/support/virtual_clock.hpp"

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

namespace {

namespace asio = boost::asio;
using asio::awaitable;

constexpr int kKinds = 19;  // kinds that the operator watches
constexpr int kPage = 500;
constexpr base::Duration kLong = std::chrono::hours(1);
constexpr double kMostBytesPerPod = 1500;
constexpr double kMostBytesPerNode = 8000;

class Stream final : public base::HttpStream {
public:
    explicit Stream(base::HttpResponse response)
        : head_(std::move(response)), body_(std::exchange(head_.body, {})) {}
    const base::HttpResponse& head() const override { return head_; }
    awaitable<std::optional<std::string>> read() override {
        constexpr std::size_t kPiece = 64 * 1024;
        if (taken_ == body_.size()) co_return std::nullopt;
        auto piece = body_.substr(taken_, kPiece);
        taken_ += piece.size();
        co_return piece;
    }

private:
    base::HttpResponse head_;
    std::string body_;
    std::size_t taken_ = 0;
};

class Transport final : public base::HttpTransport {
public:
    Transport(bench::GeneratedCluster& cluster, base::Clock& clock) : cluster_(cluster), clock_(clock) {}
    awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        throw base::TransportError(request.method + " is not for this cluster", false);
        co_return base::HttpResponse();
    }
    awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override {
        auto response = cluster_.answer(request);
        while (!response) co_await clock_.sleep_for(kLong);
        co_return std::make_unique<Stream>(std::move(*response));
    }

private:
    bench::GeneratedCluster& cluster_;
    base::Clock& clock_;
};

struct Footprint {
    double bytes = 0;
    std::size_t pods = 0;
    std::size_t nodes = 0;
    int requests = 0;
};

double allocated() {
    const auto info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

Footprint footprint_of(int pods, int nodes) {
    asio::io_context context{1};
    fake::VirtualClock clock;
    bench::GeneratedCluster cluster(pods, nodes, 0);
    base::MetricsRegistry metrics;
    kube::Client client(std::make_unique<Transport>(cluster, clock), clock, metrics);
    const auto random = fake::make_seeded_random(1);
    const auto before = allocated();
    controllers::Informers informers(client, clock, *random, context.get_executor());
    base::TaskGroup running(context.get_executor());
    informers.spawn_all(running);
    clock.run_for(context, std::chrono::seconds{1});
    Footprint result;
    result.bytes = allocated() - before;
    result.pods = informers.pods.store().size();
    result.nodes = informers.nodes.store().size();
    result.requests = cluster.requests();
    running.stop();
    clock.run_for(context, std::chrono::seconds{1});
    return result;
}

bool keeps(const char* what, double measured, double bound) {
    std::printf("%s=%.0f bound=%.0f\n", what, measured, bound);
    if (measured <= bound) return true;
    std::fprintf(stderr, "%s: %.0f is more than %.0f\n", what, measured, bound);
    return false;
}

}  // namespace

int main() {
    if (kIsSanitized) {
        std::fprintf(stderr, "skipped: a sanitizer's allocator says nothing about memory\n");
        return 77;
    }
    constexpr int kPods = 5000;
    constexpr int kNodes = 500;
    footprint_of(1, 1);  // allocates what is allocated only once
    const auto empty = footprint_of(0, 1);
    const auto nodes = footprint_of(0, kNodes);
    const auto all = footprint_of(kPods, kNodes);
    if (all.pods != kPods || all.nodes != kNodes) {
        std::fprintf(stderr, "the caches are not complete\n");
        return 1;
    }
    bool kept = keeps("bytes_per_node", (nodes.bytes - empty.bytes) / (kNodes - 1), kMostBytesPerNode);
    kept &= keeps("bytes_per_pod", (all.bytes - nodes.bytes) / kPods, kMostBytesPerPod);
    // Each kind needs a list and a watch; pods need further pages.
    kept &= keeps("requests", all.requests, 2 * kKinds + kPods / kPage - 1);
    return kept ? 0 : 1;
}

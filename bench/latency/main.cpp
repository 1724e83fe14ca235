// bench-latency [--pods N]... [--samples K] [--stream P] [--most-milliseconds B]: Measures the operator's
// latencies in clusters of several sizes. One is from an unschedulable pod to the claim and to the request at
// the hypervisor, beyond the batching window. The other is from a Ready Node to a Ready claim. It also
// measures how long P pods wait for their claims if 20 pods arrive each second. The batching window then
// stays open. It runs in real time. API server and Proxmox are in memory on the same thread, so their work
// counts as well. Exit code 1: a median exceeds the limit.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "bench/cpu_time.hpp"
#include "bench/latency/stage.hpp"

namespace {

struct Arguments {
    std::vector<int> pods{0, 10'000};
    int samples = 5;
    int stream = 60;
    double most_milliseconds = 0;
};

struct Sample {
    double to_claim = 0;    // all in milliseconds
    double to_request = 0;  // from the unschedulable pod to the provider
    double cpu = 0;         // from the pod to the request
    double to_ready = 0;
};

double milliseconds(base::Duration duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

// Measures one pod that needs a machine, until the machine's Node is Ready and the pod runs there.
Sample measure(bench::Stage& stage, int number) {
    const auto name = "new-" + std::to_string(number);
    Sample sample;
    stage.forget();
    const auto cpu = bench::cpu_seconds();
    const auto begun = stage.now();
    stage.add_unschedulable_pod(name);
    stage.run_until("the request for a machine", [&] { return stage.machine_requested().has_value(); });
    sample.cpu = (bench::cpu_seconds() - cpu) * 1e3;
    sample.to_claim = milliseconds(*stage.claim_created() - begun - stage.batching_window());
    sample.to_request = milliseconds(*stage.machine_requested() - begun - stage.batching_window());

    const auto is = [&](std::string_view condition) {
        const auto claim = stage.claim();
        return claim && api::is_true(claim->status.conditions, condition);
    };
    stage.run_until("the machine's launch", [&] { return is(api::conditions::kLaunched); });
    stage.join(*stage.claim());
    stage.run_until("the registration", [&] { return is(api::conditions::kRegistered); });
    stage.run_for(std::chrono::seconds{1});
    const auto joined = stage.claim()->status.nodeName;
    const auto ready = stage.now();
    stage.make_ready(joined);
    stage.run_until("the claim's readiness", [&] { return stage.claim_ready().has_value(); });
    sample.to_ready = milliseconds(*stage.claim_ready() - ready);
    stage.bind_pod(name, joined);
    stage.run_for(std::chrono::seconds{2});
    return sample;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

bool run(const Arguments& arguments, int pods) {
    bench::Stage stage(pods);
    std::vector<Sample> samples;
    samples.reserve(static_cast<std::size_t>(arguments.samples));
    for (int i = 0; i < arguments.samples; ++i) samples.push_back(measure(stage, i));
    const auto of = [&](double Sample::* what) {
        std::vector<double> values;
        values.reserve(samples.size());
        for (const auto& sample : samples) values.push_back(sample.*what);
        return values;
    };
    const auto worst = [&](double Sample::* what) { return std::ranges::max(of(what)); };
    const auto to_request = median(of(&Sample::to_request));
    const auto to_ready = median(of(&Sample::to_ready));
    const auto most = arguments.most_milliseconds;
    const bool good = most == 0 || (to_request <= most && to_ready <= most);
    std::printf(
        "pods=%d unschedulable_to_claim_ms=%.2f unschedulable_to_request_ms=%.2f worst=%.2f cpu_ms=%.2f "
        "node_ready_to_claim_ready_ms=%.2f worst=%.2f%s\n",
        pods, median(of(&Sample::to_claim)), to_request, worst(&Sample::to_request), median(of(&Sample::cpu)),
        to_ready, worst(&Sample::to_ready), good ? "" : "  BROKEN");
    std::fflush(stdout);
    return good;
}

// Three pods fill a machine.
void run_stream(int pods) {
    bench::Stage stage(0);
    std::map<std::string, base::TimePoint> came;
    for (int i = 0; i < pods; ++i) {
        const auto uid = stage.add_unschedulable_pod("stream-" + std::to_string(i), "1200m");
        came.emplace(uid, stage.now());
        stage.run_for(std::chrono::milliseconds{50});
    }
    stage.run_until("the last claim", [&] { return stage.launched().size() >= came.size(); });
    std::vector<double> waits;
    for (const auto& [uid, when] : stage.launched()) waits.push_back(milliseconds(when - came.at(uid)));
    std::sort(waits.begin(), waits.end());
    std::printf("stream=%d unschedulable_to_claim_ms=%.2f p99=%.2f\n", pods, median(waits),
                waits[(waits.size() - 1) * 99 / 100]);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app{"Latency of decisions beyond the batching window, in clusters of several sizes"};
    app.add_option("--pods", arguments.pods, "running pods; may be given several times")
        ->capture_default_str()
        ->check(CLI::Range(0, 500'000));
    app.add_option("--samples", arguments.samples, "how often")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000));
    app.add_option("--stream", arguments.stream, "pods that come one after the other; 0: none")
        ->capture_default_str()
        ->check(CLI::Range(0, 10'000));
    app.add_option("--most-milliseconds", arguments.most_milliseconds, "the bound of the medians; 0: none")
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    base::log::configure(base::log::Level::error, base::log::Format::text);
    bool good = true;
    for (const int pods : arguments.pods) good &= run(arguments, pods);
    if (arguments.stream > 0) run_stream(arguments.stream);
    return good ? 0 : 1;
}

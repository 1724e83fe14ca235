// bench-soak [--days N]: Simulates days of the whole operator in virtual time. Workloads, and with them the
// nodes, grow and shrink every few minutes. Each day ends with nothing left and some hours of rest. The
// operator's memory is what becomes free when it is stopped, so the simulated servers do not count. Exit code
// 1: it needs more memory after all days than after the first, or a day left work.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <vector>

#include "base/log.hpp"
#include "test/simulation/operators.hpp"

namespace {

using simulation::NodeSmithClaim;

constexpr auto kDay = std::chrono::hours{20};
constexpr auto kRest = std::chrono::hours{4};
constexpr auto kBetweenChanges = std::chrono::minutes{5};
constexpr int kDeployments = 4;
constexpr std::uint64_t kMostReplicas = 8;
// The text of Events is remembered as at most 20,000 hashes.
constexpr double kMostGrowthKib = 1500;

std::string name_of(int deployment) {
    return "app-" + std::to_string(deployment);
}

simulation::Scenario scenario() {
    auto scenario = simulation::plain_scenario();
    auto& pool = scenario.pools.front();
    pool.spec.scaleDown.maxConcurrent = 5;
    pool.spec.scaleDown.unneededDuration = std::chrono::minutes{2};
    pool.spec.scaleDown.minNodeAge = std::chrono::minutes{2};
    scenario.deployments.clear();
    for (int i = 0; i < kDeployments; ++i)
        scenario.deployments.push_back(simulation::a_deployment(name_of(i), 0, "1", "1Gi"));
    return scenario;
}

double live_kib() {
    return static_cast<double>(mallinfo2().uordblks) / 1024;
}

class Soak {
public:
    Soak()
        : world_(1, scenario(), simulation::Recording::off),
          random_(world_.random_for("soak")),
          operators_(world_) {
        world_.faults.stop();
        operators_.keep(1);
        world_.view.subscribe<NodeSmithClaim>(
            [this](const auto* before, const auto*) { claims_ += before ? 0 : 1; });
        world_.view.subscribe<api::Pod>([this](const auto* before, const auto*) { pods_ += before ? 0 : 1; });
    }
    ~Soak() { world_.shut_down(); }

    void one_day() {
        const auto evening = world_.now() + kDay;
        while (world_.now() < evening) {
            const auto which = static_cast<int>(random_->below(kDeployments));
            scale(which, static_cast<std::int64_t>(random_->below(kMostReplicas + 1)));
            world_.run_for(kBetweenChanges);
        }
        for (int i = 0; i < kDeployments; ++i) scale(i, 0);
        world_.run_for(kRest);
    }
    // Stops the operator and returns the KiB that it held.
    double stop() {
        const auto with = live_kib();
        operators_.stop_all();
        return with - live_kib();
    }

    std::uint64_t claims() const { return claims_; }
    std::uint64_t pods() const { return pods_; }
    std::size_t claims_left() const { return world_.view.all<NodeSmithClaim>().size(); }
    // Returns the number of keys in the operator's work queues that need not wait.
    double queued() const { return operators_.metric_sum("workqueue_depth"); }

private:
    void scale(int deployment, std::int64_t replicas) {
        world_.workloads.scale(name_of(deployment), replicas);
    }

    simulation::World world_;
    std::unique_ptr<base::Random> random_;
    simulation::Operators operators_;
    std::uint64_t claims_ = 0;
    std::uint64_t pods_ = 0;
};

struct Result {
    double held_kib = 0;
    bool work_is_left = false;
};

Result soak(int days) {
    Soak soak;
    Result result;
    for (int day = 1; day <= days; ++day) {
        soak.one_day();
        const bool is_left = soak.queued() > 0 || soak.claims_left() > 0;
        result.work_is_left |= is_left;
        std::printf("day=%d pods=%llu claims=%llu claims_left=%zu queued=%.0f%s\n", day,
                    static_cast<unsigned long long>(soak.pods()),
                    static_cast<unsigned long long>(soak.claims()), soak.claims_left(), soak.queued(),
                    is_left ? "  WORK IS LEFT" : "");
        std::fflush(stdout);
    }
    result.held_kib = soak.stop();
    return result;
}

int run(int days) {
    const auto first = soak(1);
    const auto all = soak(days);
    const bool grows = all.held_kib > first.held_kib + kMostGrowthKib;
    std::printf("held_kib=%.0f after a day, held_kib=%.0f after %d days%s\n", first.held_kib, all.held_kib,
                days, grows ? "  GROWS" : "");
    return grows || first.work_is_left || all.work_is_left ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    int days = 2;
    CLI::App app{"Simulated days: what the operator holds in memory and queues"};
    app.add_option("--days", days, "how many")->capture_default_str()->check(CLI::Range(2, 365));
    CLI11_PARSE(app, argc, argv);
    base::log::configure(base::log::Level::error, base::log::Format::text);
    return run(days);
}

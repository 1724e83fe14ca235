// bench-claims [--claims N]: Creates pods that need N machines simultaneously, and later deletes them all.
// All claims are in flight together, in virtual time with a simulated Proxmox. It counts the operator's
// requests to the API server and to Proxmox for each claim. Exit code 1: a limit of docs/performance.md is
// exceeded.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "base/log.hpp"
#include "bench/claims/requests.hpp"
#include "bench/claims/scenario.hpp"
#include "test/simulation/operators.hpp"

namespace {

using bench::Requests;
using bench::Stage;
using bench::sum;
using simulation::NodeSmithClaim;

struct Arguments {
    std::int64_t claims = 1000;
    bool verbose = false;
};

class PoolCounts {
public:
    explicit PoolCounts(std::int64_t claims)
        : size_(static_cast<std::size_t>(claims)),
          world_(1, bench::fleet_scenario(claims), simulation::Recording::off),
          requests_(world_),
          operators_(world_) {
        world_.faults.stop();
        operators_.keep(1);
        world_.run_for(std::chrono::minutes{1});
    }
    ~PoolCounts() {
        operators_.stop_all();
        world_.shut_down();
    }

    // Returns the seconds until every machine is Ready. Afterwards most_in_flight() is known.
    double come() {
        world_.workloads.scale(bench::kDeployment, static_cast<std::int64_t>(size_));
        return run_until([this] { return ready() == size_; });
    }
    // Returns the seconds until nothing is left, including the waits before an empty node is removed.
    double go() {
        world_.workloads.scale(bench::kDeployment, 0);
        return run_until([this] { return claims() == 0; });
    }
    std::size_t claims() const { return world_.view.all<NodeSmithClaim>().size(); }
    std::size_t machines() const { return world_.administrators.marked().size(); }
    std::size_t most_in_flight() const { return most_in_flight_; }
    const Requests& requests() const { return requests_; }

private:
    std::size_t ready() const {
        std::size_t count = 0;
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>())
            count += api::is_true(claim->status.conditions, api::conditions::kReady) ? 1 : 0;
        return count;
    }
    template <class Condition>
    double run_until(Condition holds) {
        const auto start = world_.now();
        while (!holds() && world_.now() - start < std::chrono::hours{2}) {
            world_.run_for(std::chrono::seconds{1});
            most_in_flight_ = std::max(most_in_flight_, claims() - ready());
        }
        return std::chrono::duration<double>(world_.now() - start).count();
    }

    std::size_t size_;
    simulation::World world_;
    Requests requests_;
    simulation::Operators operators_;
    std::size_t most_in_flight_ = 0;
};

void list(const Requests::Kinds& kinds, double claims) {
    for (const auto& [kind, count] : kinds)
        std::printf("    %-60s %8.3f\n", kind.c_str(), static_cast<double>(count) / claims);
}

bool holds(const char* what, double value, double bound) {
    std::printf("%-60s %8.1f (bound %.0f)%s\n", what, value, bound, value <= bound ? "" : "  BROKEN");
    return value <= bound;
}

int run(const Arguments& arguments) {
    PoolCounts fleet(arguments.claims);
    const auto count = static_cast<double>(arguments.claims);
    const auto coming = fleet.come();
    std::printf("all %lld machines Ready after %.0f s, at most %zu claims in flight\n",
                static_cast<long long>(arguments.claims), coming, fleet.most_in_flight());
    const auto going = fleet.go();
    std::printf("all gone after %.0f s, %zu claims and %zu machines are left\n", going, fleet.claims(),
                fleet.machines());
    const auto& requests = fleet.requests();
    const auto& before = requests.of_claims(Stage::coming);
    const auto& after = requests.of_claims(Stage::serving_and_going);
    if (arguments.verbose) {
        std::printf("per claim, until Ready:\n");
        list(before, count);
        std::printf("per claim, from Ready until gone:\n");
        list(after, count);
        std::printf("other requests per claim:\n");
        list(requests.of_others(), count);
        std::printf("to Proxmox per claim:\n");
        list(requests.to_proxmox(), count);
        std::printf("Events per claim %.1f, evictions %.1f\n", static_cast<double>(requests.events()) / count,
                    static_cast<double>(requests.evictions()) / count);
    }
    bool good = fleet.claims() == 0 && fleet.machines() == 0;
    good &= holds("API requests until Ready, mean", static_cast<double>(sum(before)) / count, 16);
    good &= holds("API requests until Ready, worst claim",
                  static_cast<double>(requests.most_of_a_claim(Stage::coming)), 16);
    good &= holds("API requests from Ready until gone, mean", static_cast<double>(sum(after)) / count, 15);
    good &= holds("API requests from Ready until gone, worst claim",
                  static_cast<double>(requests.most_of_a_claim(Stage::serving_and_going)), 16);
    good &= holds("other API requests per claim", static_cast<double>(sum(requests.of_others())) / count, 9);
    good &= holds("Proxmox requests per claim", static_cast<double>(sum(requests.to_proxmox())) / count, 47);
    good &= holds("Proxmox requests per claim in a second, at most",
                  static_cast<double>(requests.most_to_proxmox_in_a_second()) / count, 10);
    return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app{"Many claims in flight at once: what each costs the API server and Proxmox"};
    app.add_option("--claims", arguments.claims, "how many")
        ->capture_default_str()
        ->check(CLI::Range(1, 5000));
    app.add_flag("--verbose", arguments.verbose, "count each kind of request");
    CLI11_PARSE(app, argc, argv);
    base::log::configure(base::log::Level::error, base::log::Format::text);
    return run(arguments);
}

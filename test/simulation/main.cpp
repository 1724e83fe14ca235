// simulation --seeds N --start S --minutes M [--trace]: runs seeds one after the other and prints what they
// reached. If a seed violates an invariant, it runs again with its trace. The program then ends with exit
// code 1.
#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <set>

#include "base/log.hpp"
#include "test/simulation/run.hpp"

namespace {

struct Arguments {
    std::uint64_t seeds = 100;
    std::uint64_t start = 1;
    std::int64_t minutes = 60;
    bool trace = false;
    bool of_users = false;
    bool soaks = false;
    double racks = simulation::kRacks;
    std::uint64_t violations = 1;
    std::size_t lines = 200;
    std::string rights;  // name of a file; empty: none
};

struct Totals {
    std::uint64_t seeds = 0;
    std::uint64_t failed = 0;
    double simulated_hours = 0;
    simulation::FaultPlan::Counts faults{};
    simulation::Coverage coverage;
    simulation::Happenings happenings;
    std::uint64_t two_clusters = 0;
    simulation::SharedRackCounts shared_rack;
    std::set<fake::Right> needed_rights;
};

simulation::RunOptions options_of(const Arguments& arguments, std::uint64_t seed) {
    simulation::RunOptions options;
    options.seed = seed;
    options.trouble = std::chrono::minutes{arguments.minutes};
    if (arguments.of_users) options.variety = simulation::Variety::of_users;
    options.racks = arguments.racks;
    options.soaks = arguments.soaks;
    options.recording = arguments.trace ? simulation::Recording::live : simulation::Recording::off;
    return options;
}

void tell_violation(const Arguments& arguments, std::uint64_t seed, const simulation::Outcome& outcome) {
    if (!arguments.trace) {
        auto options = options_of(arguments, seed);
        options.recording = simulation::Recording::on;
        base::log::configure(base::log::Level::debug, base::log::Format::text);
        const auto lines = simulation::run_seed(options).trace;
        base::log::configure(base::log::Level::info, base::log::Format::text);
        const auto first = lines.size() > arguments.lines ? lines.size() - arguments.lines : 0;
        for (auto i = first; i < lines.size(); ++i) std::printf("%s\n", lines[i].c_str());
    }
    for (const auto& violation : outcome.violations) {
        std::printf("\nseed %llu violates \"%s\" at %s:\n  %s\n", static_cast<unsigned long long>(seed),
                    violation.invariant.c_str(), simulation::time_text(violation.at).c_str(),
                    violation.message.c_str());
    }
    std::printf("to see all of it: simulation --seeds 1 --start %llu --minutes %lld%s%s --racks %g --trace\n",
                static_cast<unsigned long long>(seed), static_cast<long long>(arguments.minutes),
                arguments.of_users ? " --of-users" : "", arguments.soaks ? " --soak" : "", arguments.racks);
}

void tell_short(std::uint64_t seed, const simulation::Violation& violation) {
    std::printf("seed %llu: %s: %s\n", static_cast<unsigned long long>(seed), violation.invariant.c_str(),
                violation.message.substr(0, 400).c_str());
    std::fflush(stdout);
}

void tell_totals(const Totals& totals, double seconds) {
    std::printf("\n%s", totals.coverage.table().c_str());
    std::printf("\nreasons in conditions and Events:\n%s", totals.coverage.reasons().c_str());
    std::printf("\nwhat outsiders did:\n");
    for (const auto& [what, times] : totals.happenings.counts())
        std::printf("%8llu  %s\n", static_cast<unsigned long long>(times), what.c_str());
    std::printf("\nfaults:\n");
    for (std::size_t i = 0; i < simulation::kFaults; ++i) {
        std::printf("  %-22s %llu\n",
                    std::string(simulation::name_of(static_cast<simulation::Fault>(i))).c_str(),
                    static_cast<unsigned long long>(totals.faults[i]));
    }
    std::printf(
        "\nracks of two clusters: %llu, hosts that both asked to turn on: %llu, and turned off unknowingly: "
        "%llu\n",
        static_cast<unsigned long long>(totals.two_clusters),
        static_cast<unsigned long long>(totals.shared_rack.contested),
        static_cast<unsigned long long>(totals.shared_rack.cut_unknowingly));
    std::printf(
        "\n%llu seeds, %llu with a violation, %.0f simulated hours in %.1f s: %.1f seeds/s, %.0f hours/s\n",
        static_cast<unsigned long long>(totals.seeds), static_cast<unsigned long long>(totals.failed),
        totals.simulated_hours, seconds, static_cast<double>(totals.seeds) / seconds,
        totals.simulated_hours / seconds);
}

void add(Totals& totals, const simulation::Outcome& outcome) {
    ++totals.seeds;
    totals.failed += outcome.violations.empty() ? 0 : 1;
    totals.simulated_hours += std::chrono::duration<double, std::ratio<3600>>(outcome.simulated).count();
    for (std::size_t i = 0; i < simulation::kFaults; ++i) totals.faults[i] += outcome.faults[i];
    totals.coverage.add(outcome.coverage);
    totals.happenings.add(outcome.happenings);
    totals.two_clusters += outcome.has_two_clusters ? 1 : 0;
    totals.shared_rack.contested += outcome.shared_rack.contested;
    totals.shared_rack.cut_unknowingly += outcome.shared_rack.cut_unknowingly;
    totals.needed_rights.insert(outcome.needed_rights.begin(), outcome.needed_rights.end());
}

void write_rights(const std::string& file, const std::set<fake::Right>& rights) {
    std::ofstream out(file);
    for (const auto& right : rights) {
        const boost::json::object line{{"verb", right.verb},
                                       {"group", right.group},
                                       {"resource", right.resource},
                                       {"namespace", right.namespace_},
                                       {"name", right.name}};
        out << boost::json::serialize(line) << "\n";
    }
}

// Ctrl-C ends a long run after the present seed and prints the totals so far.
volatile std::sig_atomic_t enough = 0;

int run(const Arguments& arguments) {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { enough = 1; });
    auto started = std::chrono::steady_clock::now();
    Totals totals;
    for (auto seed = arguments.start; seed < arguments.start + arguments.seeds && !enough; ++seed) {
        auto outcome = simulation::run_seed(options_of(arguments, seed));
        add(totals, outcome);
        if (outcome.violations.empty()) continue;
        if (arguments.violations == 1) {
            tell_violation(arguments, seed, outcome);
        } else {
            tell_short(seed, outcome.violations.front());
        }
        if (totals.failed >= arguments.violations) break;
    }
    tell_totals(totals, std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
    if (!arguments.rights.empty()) write_rights(arguments.rights, totals.needed_rights);
    return totals.failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app{
        "Runs the whole operator in virtual time against servers in memory, with faults drawn from seeds."};
    app.add_option("--seeds", arguments.seeds, "how many")->capture_default_str();
    app.add_option("--start", arguments.start, "the first seed")->capture_default_str();
    app.add_option("--minutes", arguments.minutes,
                   "simulated minutes with trouble, before three hours of peace")
        ->capture_default_str();
    app.add_option("--lines", arguments.lines, "how much of a failing seed's trace is shown")
        ->capture_default_str();
    app.add_flag("--of-users", arguments.of_users,
                 "hosts, pools, manifests, workloads and kubelets as users have them");
    app.add_flag("--soak", arguments.soaks,
                 "obstacles that come and go for days (--minutes): quotas, webhooks, a provider that hangs, "
                 "watches that are cut; whatever waits is held against its obstacle");
    app.add_option("--racks", arguments.racks, "share of seeds with bare metal")->capture_default_str();
    app.add_flag("--trace", arguments.trace, "show all that happens");
    app.add_option("--violations", arguments.violations,
                   "stop after so many seeds with a violation; more than one: a line for each, no traces")
        ->capture_default_str();
    app.add_option("--rights", arguments.rights,
                   "write to this file, one a line, which rights the operator's requests needed");
    CLI11_PARSE(app, argc, argv);
    if (arguments.trace) base::log::configure(base::log::Level::debug, base::log::Format::text);
    return run(arguments);
}

#include "test/simulation/faults.hpp"

#include <algorithm>
#include <cmath>

#include "test/support/seeded_random.hpp"

namespace simulation {
namespace {

struct Kind {
    std::string_view name;
    double rate;  // probability at an opportunity, or times per hour, at medium strength of the kind
};

constexpr std::array<Kind, kFaults> kKinds{{
    {"api_refused", 0.01},
    {"api_answer_lost", 0.01},
    {"api_throttled", 0.01},
    {"api_conflict", 0.01},
    {"api_slow", 0.02},
    {"watch_dropped", 0.005},
    {"watch_stale", 0.02},
    {"watch_stalled", 0.002},
    {"watch_cut_when_quiet", 1},
    {"provider_refused", 0.03},
    {"provider_answer_lost", 0.03},
    {"provider_slow", 0.03},
    {"task_failed", 0.08},
    {"task_failed_late", 0.05},
    {"task_hung", 0.03},
    {"task_died", 0.04},
    {"remote_copy_slow", 0.2},
    {"never_joins", 0.1},
    {"joins_late", 0.2},
    {"wrong_identity", 0.06},
    {"killed_at_request", 0.003},
    {"killed", 4},
    {"paused", 3},
    {"second_operator", 1},
    {"api_unreachable", 3},
    {"history_compacted", 4},
    {"clock_jump", 2},
    {"host_died", 1.5},
    {"storage_full", 1.5},
    {"not_ready", 3},
    {"machine_removed", 2},
    {"machine_stopped", 2},
    {"mark_edited", 1},
    {"foreign_machine", 2},
    {"user_deleted", 5},
    {"user_edited", 5},
    {"config_written_in_part", 0.01},
    {"tags_forbidden", 1},
    {"quorum_lost", 1.5},
    {"right_withdrawn", 1},
    {"certificate_renewed", 2},
    {"power_cut", 1.5},
    {"etcd_restored", 2},
}};

constexpr std::chrono::minutes kRecent{1};

}  // namespace

std::string_view name_of(Fault fault) {
    return kKinds[static_cast<std::size_t>(fault)].name;
}

FaultPlan::FaultPlan(std::uint64_t seed, const base::Clock& clock, Trace& trace)
    : clock_(clock), trace_(trace), random_(fake::make_seeded_random(seed)) {
    // One seed in eight is calm, so that invariants that need peace are checked as well.
    double share = random_->below(8) == 0 ? 0 : random_->unit();
    for (std::size_t i = 0; i < kFaults; ++i) {
        bool chosen = random_->unit() < share;
        double strength = std::exp((random_->unit() * 2 - 1) * 1.5);
        if (chosen) rates_[i] = kKinds[i].rate * strength;
    }
}

void FaultPlan::have_only(const std::map<Fault, double>& rates) {
    rates_.fill(0);
    for (const auto& [fault, rate] : rates) rates_[index(fault)] = rate;
}

bool FaultPlan::strikes(Fault fault) {
    if (!active_ || rates_[index(fault)] <= 0) return false;
    if (random_->unit() >= rates_[index(fault)]) return false;
    note(fault);
    return true;
}

void FaultPlan::note(Fault fault) {
    ++counts_[index(fault)];
    last_[index(fault)] = clock_.now();
    trace_.line("fault", name_of(fault));
}

base::Duration FaultPlan::duration(base::Duration least, base::Duration most) {
    auto share = random_->unit();
    return least + std::chrono::duration_cast<base::Duration>((most - least) * (share * share));
}

bool FaultPlan::is_calm() const {
    return std::ranges::all_of(rates_, [](double rate) { return rate <= 0; });
}

bool FaultPlan::recent(Fault fault) const {
    return counts_[index(fault)] > 0 && clock_.now() - last_[index(fault)] <= kRecent;
}

}  // namespace simulation

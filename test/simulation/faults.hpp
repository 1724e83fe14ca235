// Which troubles a seed brings, how often, and what was done so far. Each seed enables some kinds and leaves
// others out: runs with few kinds reach far, runs with many reach strange places.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "test/simulation/trace.hpp"

namespace simulation {

enum class Fault : std::size_t {
    // At each opportunity, with some probability.
    api_refused,      // 500, 503, 504 or no connection; nothing was done
    api_answer_lost,  // done, but the client does not learn it
    api_throttled,    // 429 with Retry-After
    api_conflict,     // 409 to a patch, as after a race in etcd
    api_slow,
    watch_dropped,
    watch_stale,           // events arrive late
    watch_stalled,         // the connection stays open and passes nothing any more
    watch_cut_when_quiet,  // by a load balancer, in all of the world
    provider_refused,      // 500, 595, 596, 599 or no connection; nothing was done
    provider_answer_lost,
    provider_slow,
    task_failed,
    task_failed_late,  // did its work, says it failed
    task_hung,
    task_died,         // half-way, locks stay
    remote_copy_slow,  // uploads through another host
    never_joins,
    joins_late,
    wrong_identity,
    killed_at_request,  // the operator ends just before or after a request has effect
    // From time to time.
    killed,
    paused,  // as by SIGSTOP or a stalled virtual machine
    second_operator,
    api_unreachable,  // from the operator, for a while
    history_compacted,
    clock_jump,
    host_died,
    storage_full,
    not_ready,
    machine_removed,  // at the provider, behind our back
    machine_stopped,
    mark_edited,      // of a machine: it cannot be proven ours any more
    foreign_machine,  // takes the next VMIDs, or is a copy of ours with its tags
    user_deleted,
    user_edited,
    config_written_in_part,  // at each option of a change
    tags_forbidden,          // from time to time: the datacenter's options let only administrators give tags
    quorum_lost,             // no change is possible, and what is under way cannot end
    right_withdrawn,         // one privilege, wherever our user has it, for a while
    certificate_renewed,     // of a Proxmox host's own API
    power_cut,               // hosts of Proxmox lose power together, and come back one by one
    etcd_restored,           // from a backup that is a minute old
    count,
};
inline constexpr std::size_t kFaults = static_cast<std::size_t>(Fault::count);
std::string_view name_of(Fault fault);

class FaultPlan {
public:
    FaultPlan(std::uint64_t seed, const base::Clock& clock, Trace& trace);

    // Whether the opportunity at hand is taken; counts as done.
    bool strikes(Fault fault);
    // How often a timed fault comes, per hour; 0 if this seed has none.
    double per_hour(Fault fault) const { return active_ ? rates_[index(fault)] : 0; }
    bool has(Fault fault) const { return rates_[index(fault)] > 0; }
    // For faults that are not decided by strikes().
    void note(Fault fault);
    // These kinds and no others, at these rates.
    void have_only(const std::map<Fault, double>& rates);
    // No trouble any more.
    void stop() { active_ = false; }
    bool active() const { return active_; }
    // The seed has none at all.
    bool is_calm() const;

    // A time from `least` to `most`, short ones more often.
    base::Duration duration(base::Duration least, base::Duration most);
    base::Random& random() { return *random_; }

    using Counts = std::array<std::uint64_t, kFaults>;
    const Counts& counts() const { return counts_; }
    // Struck within the last minute, or still going on (host_died, not_ready, ... count from their start).
    bool recent(Fault fault) const;
    // What a process asked for before it was killed within the last minute may still take effect.
    bool recent_kill() const { return recent(Fault::killed) || recent(Fault::killed_at_request); }

private:
    static std::size_t index(Fault fault) { return static_cast<std::size_t>(fault); }

    const base::Clock& clock_;
    Trace& trace_;
    std::unique_ptr<base::Random> random_;
    std::array<double, kFaults> rates_{};
    Counts counts_{};
    std::array<base::TimePoint, kFaults> last_{};
    bool active_ = true;
};

}  // namespace simulation

// The troubles of a seed: which ones it has, how often they occur, and what has happened so far. Each seed
// enables some kinds and leaves others out. Runs with few kinds get far; runs with many reach strange states.
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
    // These faults strike with some probability at each opportunity.
    api_refused,      // 500, 503, 504 or no connection, without any effect
    api_answer_lost,  // the request has effect, but the client gets no answer
    api_throttled,    // 429 with Retry-After
    api_conflict,     // 409 to a patch, as after a race in etcd
    api_slow,
    watch_dropped,
    watch_stale,           // events arrive late
    watch_stalled,         // the connection stays open, but passes nothing any longer
    watch_cut_when_quiet,  // a load balancer cuts quiet connections in the whole world
    provider_refused,      // 500, 595, 596, 599 or no connection, without any effect
    provider_answer_lost,
    provider_slow,
    task_failed,
    task_failed_late,  // did its work, but reports failure
    task_hung,
    task_died,         // half-way; its locks stay
    remote_copy_slow,  // uploads through another host
    never_joins,
    joins_late,
    wrong_identity,
    killed_at_request,  // the operator ends just before or after a request has effect
    // These faults strike from time to time.
    killed,
    paused,  // as SIGSTOP or a stalled virtual machine does
    second_operator,
    api_unreachable,  // the operator cannot reach it for a while
    history_compacted,
    clock_jump,
    host_died,
    storage_full,
    not_ready,
    machine_removed,  // at the provider, without the operator's knowledge
    machine_stopped,
    mark_edited,      // the machine can no longer be proven ours
    foreign_machine,  // takes the next VMIDs, or copies one of our machines or templates
    user_deleted,
    user_edited,
    config_written_in_part,  // at each option of a change
    tags_forbidden,          // at times the datacenter's options let only administrators set tags
    quorum_lost,             // no change is possible, and running tasks cannot end
    right_withdrawn,         // our user lacks one privilege everywhere for a while
    certificate_renewed,     // the certificate of a Proxmox host's own API
    power_cut,               // Proxmox hosts lose power together, and come back one by one
    etcd_restored,           // from a backup that is a minute old
    count,
};
inline constexpr std::size_t kFaults = static_cast<std::size_t>(Fault::count);
std::string_view name_of(Fault fault);

class FaultPlan {
public:
    FaultPlan(std::uint64_t seed, const base::Clock& clock, Trace& trace);

    // Decides whether the fault strikes at this opportunity, and counts it if so.
    bool strikes(Fault fault);
    // Returns how often a timed fault strikes per hour; 0 if this seed does not have it.
    double per_hour(Fault fault) const { return active_ ? rates_[index(fault)] : 0; }
    bool has(Fault fault) const { return rates_[index(fault)] > 0; }
    // Counts a fault that strikes() did not decide.
    void note(Fault fault);
    // Enables exactly these kinds, at these rates.
    void have_only(const std::map<Fault, double>& rates);
    // Ends all trouble.
    void stop() { active_ = false; }
    bool active() const { return active_; }
    // Reports whether the seed has no fault at all.
    bool is_calm() const;

    // Returns a time from `least` to `most`; short times are more likely.
    base::Duration duration(base::Duration least, base::Duration most);
    base::Random& random() { return *random_; }

    using Counts = std::array<std::uint64_t, kFaults>;
    const Counts& counts() const { return counts_; }
    // Reports whether the fault struck within the last minute. Faults that last, such as host_died and
    // not_ready, count from their start.
    bool recent(Fault fault) const;
    // Reports whether a process was killed within the last minute. Its last requests may still take effect.
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

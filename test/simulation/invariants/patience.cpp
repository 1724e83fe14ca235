// Invariant 18: what does not succeed is tried with growing pauses: no change is asked of Proxmox again and
// again, as if that helped, neither within an hour nor, once it was refused, within a minute.
#include <algorithm>
#include <boost/json/serialize.hpp>
#include <deque>
#include <map>
#include <set>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

constexpr std::chrono::hours kLooksBack{1};
constexpr std::chrono::minutes kGlancesBack{1};
// 3, 6, 12 and 24 s between them, by each of those who may want the same of a machine: its claim and, once
// that is gone, the collector.
constexpr std::size_t kMostRefusedInAMinute = 10;
// Once a minute for an hour, what goes before, and as much again, as VMIDs are used by one claim after the
// other.
constexpr std::size_t kMostInAnHour = 120;
// A process that has just started knows nothing of pauses.
constexpr std::size_t kMostAfterAStart = 8;

class NothingIsHammered final : public Invariant {
public:
    explicit NothingIsHammered(const Stage& stage) : Invariant(stage) {
        world_.observe([this](const Process& process, const base::HttpRequest&, const base::HttpResponse&) {
            if (known_.insert(process.name()).second) starts_.push_back(world_.now());
        });
        world_.observe([this](const proxmox::RequestRecord& record) {
            if (record.method != "GET") note(record);
        });
    }

private:
    // By what it is about: what makes a machine is known by that machine.
    static std::string change_of(const proxmox::RequestRecord& record) {
        auto change = record.method + " " + record.path;
        for (const auto* name : {"newid", "vmid"})
            if (const auto* made = record.parameters.if_contains(name))
                change += " to " + boost::json::serialize(*made);
        return change;
    }

    void forget_what_is_old(std::deque<base::TimePoint>& times, base::Duration age = kLooksBack) const {
        while (!times.empty() && times.front() + age < world_.now()) times.pop_front();
    }

    // Rights to upload are checked before it is told for which machine: it may be for each of those that
    // wait.
    std::size_t who_may_want(const proxmox::RequestRecord& record) const {
        if (!record.path.ends_with("/upload")) return 1;
        const auto& claims = world_.view.all<NodeSmithClaim>();
        const auto waiting = std::ranges::count_if(claims, [](const auto& entry) {
            return !api::is_true(entry.second->status.conditions, api::conditions::kLaunched);
        });
        return std::max<std::size_t>(1, static_cast<std::size_t>(waiting));
    }

    void note_refusal(const std::string& change, const proxmox::RequestRecord& record) {
        auto& times = refused_[change];
        times.push_back(world_.now());
        forget_what_is_old(times, kGlancesBack);
        const auto starts = std::ranges::count_if(
            starts_, [this](base::TimePoint start) { return start + kGlancesBack >= world_.now(); });
        const auto most = kMostRefusedInAMinute * (1 + static_cast<std::size_t>(starts));
        if (times.size() <= most * who_may_want(record)) return;
        stage_.violate("nothing is hammered", change + " was refused " + std::to_string(times.size()) +
                                                  " times within a minute: " + record.reason);
        times.clear();
    }

    void note(const proxmox::RequestRecord& record) {
        const auto change = change_of(record);
        auto& times = times_[change];
        times.push_back(world_.now());
        forget_what_is_old(times);
        forget_what_is_old(starts_);
        if (record.status >= 400) note_refusal(change, record);
        if (times.size() <= kMostInAnHour + kMostAfterAStart * starts_.size()) return;
        stage_.violate("nothing is hammered",
                       change + " for the " + std::to_string(times.size()) + "th time within an hour");
        times.clear();
    }

    std::map<std::string, std::deque<base::TimePoint>> times_;  // by change
    std::map<std::string, std::deque<base::TimePoint>> refused_;
    std::set<std::string> known_;  // processes by name
    std::deque<base::TimePoint> starts_;
};

}  // namespace

std::unique_ptr<Invariant> nothing_is_hammered(const Stage& stage) {
    return std::make_unique<NothingIsHammered>(stage);
}

}  // namespace simulation

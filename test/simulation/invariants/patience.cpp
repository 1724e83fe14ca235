// Invariant 18: the pauses between unsuccessful tries grow. The operator does not send the same change to
// Proxmox over and over within an hour, nor within a minute after a refusal.
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
// Each party that may want the change waits 3, 6, 12 and 24 s between tries. These are the claim and, once it
// is gone, the collector.
constexpr std::size_t kMostRefusedInAMinute = 10;
// This covers one try a minute for an hour and the tries before. It is doubled because one claim after the
// other may use a VMID.
constexpr std::size_t kMostInAnHour = 120;
// A process that has just started knows no pauses.
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
    // Names a change by its object. The creation of a machine is named by that machine.
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

    // Returns how many machines may need the request. Rights to upload are checked before the request says
    // for which machine it is, so it may be for each waiting one.
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
    std::set<std::string> known_;  // names of processes
    std::deque<base::TimePoint> starts_;
};

}  // namespace

std::unique_ptr<Invariant> nothing_is_hammered(const Stage& stage) {
    return std::make_unique<NothingIsHammered>(stage);
}

}  // namespace simulation

// The operator makes every launch within limits that would let a waiting pod run. Trouble of one object stops
// no other: a claim without room, a pool that backs off, a provider that cannot be reached, or a host that is
// off. An independent search (search.hpp) finds helpful launches, and leaves out objects in trouble.
#include <algorithm>
#include <map>

#include "test/simulation/invariants/invariant.hpp"
#include "test/simulation/search.hpp"

namespace simulation {
namespace {

// This limit applies only while there is no trouble. Within it the operator sees the pod, queries the hosts
// again, and stops to expect machines that do not come.
constexpr std::chrono::minutes kLaunchedWithin{20};
constexpr std::chrono::minutes kLooksAtService{1};
constexpr std::chrono::minutes kAnHourAndMore{70};
constexpr std::ptrdiff_t kMostLaunches = 3;

class WaitingPodsAreServed final : public Invariant {
public:
    explicit WaitingPodsAreServed(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (!before && after) note_launch(*after);
            });
    }

    void each_second() override {
        if (world_.faults.active() && !world_.faults.is_calm()) calm_since_ = world_.now();
        if (world_.now() < next_look_) return;
        next_look_ = world_.now() + kLooksAtService;
        if (is_calm()) look();
    }

    Findings at_rest() const override {
        Findings findings;
        for (const auto& [key, pod] : world_.view.all<api::Pod>()) {
            if (!waits_for_node(*pod)) continue;
            if (const auto planned_claim = machine_that_helps(world_, *pod))
                findings.push_back({"waiting pods are served", describe(*pod, *planned_claim)});
        }
        return findings;
    }

private:
    bool is_calm() const {
        const auto& rates = world_.scenario.control_plane.spec.rateLimits;
        return rates.maxCreationsPerHour == 0 && calm_since_ + kSettled <= world_.now() &&
               (stage_.last_deed() == base::TimePoint{} || stage_.last_deed() + kSettled <= world_.now());
    }

    void note_launch(const NodeSmithClaim& claim) {
        const auto* uids = api::find(claim.metadata.annotations, api::annotations::kLaunchedFor);
        if (!uids) return;
        for (const auto& [key, pod] : world_.view.all<api::Pod>())
            if (uids->find(pod->metadata.uid) != std::string::npos)
                launches_[pod->metadata.uid].push_back(world_.now());
    }

    // Reports whether the operator has launched as often for the pod as it may (invariant 9). The period is
    // longer because processes may have wrong calendars.
    bool is_exhausted(const api::Pod& pod) const {
        const auto found = launches_.find(pod.metadata.uid);
        if (found == launches_.end()) return false;
        return std::ranges::count_if(found->second, [this](base::TimePoint when) {
                   return when + kAnHourAndMore >= world_.now();
               }) >= kMostLaunches;
    }

    void look() {
        const bool is_one_coming =
            std::ranges::any_of(world_.view.all<NodeSmithClaim>(),
                                [](const auto& entry) { return is_on_its_way(*entry.second); });
        std::map<std::string, base::TimePoint> still;
        for (const auto& [key, pod] : world_.view.all<api::Pod>()) {
            if (is_one_coming || !waits_for_node(*pod) || is_exhausted(*pod)) continue;
            const auto planned_claim = machine_that_helps(world_, *pod);
            if (!planned_claim) continue;
            const auto known = helpless_since_.find(pod->metadata.uid);
            const auto since = known == helpless_since_.end() ? world_.now() : known->second;
            still[pod->metadata.uid] = since;
            if (since + kLaunchedWithin >= world_.now()) continue;
            stage_.violate("waiting pods are served",
                           describe(*pod, *planned_claim) + ", for 20 minutes now");
        }
        helpless_since_ = std::move(still);
    }

    std::string describe(const api::Pod& pod, const HelpfulMachine& planned_claim) const {
        auto text =
            "pod " + api::key_of(pod).str() + " waits, and " + planned_claim.str() + " is not launched";
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) {
            const auto* launched = api::find_condition(claim->status.conditions, api::conditions::kLaunched);
            if (launched && launched->status == api::ConditionStatus::False)
                text += "; claim " + key.name + ": " + launched->reason + " (" + launched->message + ")";
        }
        for (const auto& [key, event] : world_.view.all<api::Event>())
            if (event->involvedObject.uid == pod.metadata.uid && event->source.component != "scheduler")
                text += "; it is told: " + event->message;
        return text;
    }

    base::TimePoint calm_since_{};
    base::TimePoint next_look_{};
    std::map<std::string, base::TimePoint> helpless_since_;         // pods by UID
    std::map<std::string, std::vector<base::TimePoint>> launches_;  // by UID of the pod
};

}  // namespace

std::unique_ptr<Invariant> waiting_pods_are_served(const Stage& stage) {
    return std::make_unique<WaitingPodsAreServed>(stage);
}

}  // namespace simulation

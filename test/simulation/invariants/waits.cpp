#include <algorithm>
#include <map>

#include "test/simulation/search.hpp"
#include "test/simulation/soak.hpp"

namespace simulation {
namespace {

constexpr std::chrono::seconds kLooksForWaits{15};
constexpr std::chrono::minutes kAfterAnObstacle{2};
// A new leader waits for the Lease, starts, and reads the cluster again.
constexpr std::chrono::minutes kNewLeader{2};

class WaitsEndWithTheirObstacles final : public Invariant {
public:
    using Invariant::Invariant;

    void each_second() override {
        if (world_.now() < next_look_) return;
        next_look_ = world_.now() + kLooksForWaits;
        if (!world_.faults.active()) return;
        note_trouble();
        std::map<std::string, Wait> still;
        for (const auto& [key, pod] : world_.view.all<api::Pod>()) {
            if (!waits_for_node(*pod)) continue;
            auto wait = waits_.contains(pod->metadata.uid) ? waits_.at(pod->metadata.uid)
                                                           : Wait{world_.now(), world_.now(), world_.now()};
            judge(*pod, wait);
            still[pod->metadata.uid] = wait;
        }
        waits_ = std::move(still);
        judge_provider();
    }

private:
    struct Wait {
        base::TimePoint silent_since;    // no machine is coming for the pod since then
        base::TimePoint helpless_since;  // a machine would help since then, and nothing prevents it
        base::TimePoint hindered_since;  // a machine would help since then, but its claim is refused
    };

    // Notes when the operator is dead or gets no events. It cannot be expected to act then.
    void note_trouble() {
        const auto& faults = world_.faults;
        if (faults.recent_kill() || faults.recent(Fault::watch_stalled) ||
            faults.recent(Fault::watch_stale) || stage_.operators.alive().empty())
            troubled_at_ = world_.now();
    }
    bool is_troubled() const {
        return troubled_at_ != base::TimePoint{} && world_.now() < troubled_at_ + kNewLeader;
    }

    void judge(const api::Pod& pod, Wait& wait) {
        const auto now = world_.now();
        if (is_troubled()) {
            wait = {now, now, now};
            return;
        }
        const bool is_coming = is_machine_coming(pod);
        if (is_coming) wait.silent_since = now;
        if (wait.silent_since + kAfterAnObstacle < now && events_about(pod.metadata.uid).empty())
            stage_.violate("a long wait is explained",
                           "pod " + api::key_of(pod).str() + " waits for two minutes, and no Event says why");
        const auto help = is_any_coming() ? std::nullopt : machine_that_helps(world_, pod);
        if (!help || is_coming) wait.helpless_since = now;
        if (wait.helpless_since + kAfterAnObstacle + kLooksForWaits < now)
            stage_.violate("no pod waits longer than its obstacle",
                           "pod " + api::key_of(pod).str() + " waits, and " + help->str() +
                               " is not launched, two minutes after the last obstacle" + told(pod));
        judge_refusal(pod, wait, help.has_value() || is_coming);
    }

    // Checks that a pod whose only helpful machine is refused reports the text of the refusal.
    void judge_refusal(const api::Pod& pod, Wait& wait, bool is_served) {
        auto& refusal = world_.interference.refusal;
        const auto now = world_.now();
        if (is_served || !refusal.is_in_force) {
            wait.hindered_since = now;
            return;
        }
        refusal.is_in_force = false;
        const auto help = machine_that_helps(world_, pod);
        refusal.is_in_force = true;
        if (!help) {
            wait.hindered_since = now;
            return;
        }
        if (wait.hindered_since + kAfterAnObstacle >= now) return;
        if (said_of(pod, help->pool).find(refusal.message) == std::string::npos)
            stage_.violate("a long wait names its obstacle", "pod " + api::key_of(pod).str() + " waits for " +
                                                                 help->str() + ", whose claim is refused (" +
                                                                 refusal.message + ")" + told(pod));
    }

    // Checks that a provider reports that it hangs, and that one that answers again is used again.
    void judge_provider() {
        const auto& hang = world_.interference.hang;
        if (hang.provider.empty() || is_troubled()) return;
        const auto* provider = world_.view.find<NodeSmithProvider>({kNodesNamespace, hang.provider});
        if (!provider) return;
        // No request is sent to the provider while its pool creates nothing for another reason, which its
        // pods report.
        if (is_held_otherwise(hang.provider)) unasked_at_ = world_.now();
        const auto since = hang.is_in_force ? std::max(hang.began, unasked_at_) : hang.ended;
        if (world_.now() < since + kAfterAnObstacle + kNewLeader) return;
        const bool is_ready = api::is_true(provider->status.conditions, api::conditions::kReady);
        const bool is_waited_for = std::ranges::any_of(world_.view.all<api::Pod>(), [&](const auto& entry) {
            return waits_for_node(*entry.second) && is_for(*entry.second, hang.provider);
        });
        if (hang.is_in_force && is_ready && is_waited_for && !is_told_by_claims(hang.provider))
            stage_.violate("a long wait names its obstacle",
                           "provider " + hang.provider +
                               " answers nothing, pods wait for it, and neither "
                               "it nor their claims say so");
        if (!hang.is_in_force && !is_ready)
            stage_.violate("no pod waits longer than its obstacle",
                           "provider " + hang.provider + " answers again and is not Ready");
    }

    // Reports whether the pod needs the pool of the provider. The pool has the name of its provider.
    bool is_for(const api::Pod& pod, const std::string& provider) const {
        const auto* wanted = api::find(pod.spec.nodeSelector, api::labels::kPool);
        return wanted && *wanted == provider;
    }
    bool is_told_by_claims(const std::string& pool) const {
        return std::ranges::any_of(world_.view.all<NodeSmithClaim>(), [&](const auto& entry) {
            const auto* launched =
                api::find_condition(entry.second->status.conditions, api::conditions::kLaunched);
            return entry.second->spec.poolRef == pool && launched &&
                   launched->status == api::ConditionStatus::False && !launched->message.empty();
        });
    }

    bool is_held_otherwise(const std::string& pool_name) const {
        const auto* pool = world_.view.find<NodeSmithPool>({kNodesNamespace, pool_name});
        if (!pool) return true;
        const auto& refusal = world_.interference.refusal;
        const auto& losses = pool->status.losses;
        return refusal.is_in_force || is_ahead(pool->status.nextRetryTime) ||
               (losses && is_ahead(losses->nextRetryTime));
    }
    bool is_ahead(const std::optional<api::Time>& time) const {
        return time && world_.clock.wall_now() < time->at;
    }

    // Reports whether the machine is still expected. If its provider hangs, only a machine that already runs
    // is.
    bool is_to_come(const NodeSmithClaim& claim) const {
        return is_on_its_way(claim) && (!world_.interference.hang.concerns(claim.spec.poolRef) ||
                                        api::is_true(claim.status.conditions, api::conditions::kLaunched));
    }
    bool is_any_coming() const {
        return std::ranges::any_of(world_.view.all<NodeSmithClaim>(),
                                   [this](const auto& entry) { return is_to_come(*entry.second); });
    }
    bool is_machine_coming(const api::Pod& pod) const {
        return std::ranges::any_of(world_.view.all<NodeSmithClaim>(), [&](const auto& entry) {
            const auto* uids = api::find(entry.second->metadata.annotations, api::annotations::kLaunchedFor);
            return uids && uids->find(pod.metadata.uid) != std::string::npos && is_to_come(*entry.second);
        });
    }

    // An Event that names a claim says nothing once that claim is gone.
    bool names_claim_of_past(const api::Event& event) const {
        if (event.reason != "ClaimCreated") return false;
        const auto name = event.message.substr(event.message.rfind('/') + 1);
        return !world_.view.find<NodeSmithClaim>({kNodesNamespace, name});
    }
    std::string events_about(const std::string& uid) const {
        std::string text;
        for (const auto& [key, event] : world_.view.all<api::Event>())
            if (event->involvedObject.uid == uid && event->source.component != "scheduler" &&
                !names_claim_of_past(*event))
                text += event->message + "; ";
        return text;
    }
    std::string said_of(const api::Pod& pod, const std::string& pool_name) const {
        auto text = events_about(pod.metadata.uid);
        const auto* pool = world_.view.find<NodeSmithPool>({kNodesNamespace, pool_name});
        if (pool)
            for (const auto& condition : pool->status.conditions) text += condition.message + "; ";
        return text;
    }
    std::string told(const api::Pod& pod) const { return "; it is told: " + events_about(pod.metadata.uid); }

    base::TimePoint next_look_{};
    base::TimePoint troubled_at_{};
    base::TimePoint unasked_at_{};       // last time at which the hanging provider's pool was blocked
                                         // otherwise
    std::map<std::string, Wait> waits_;  // by UID of the pod
};

}  // namespace

std::unique_ptr<Invariant> waits_end_with_their_obstacles(const Stage& stage) {
    return std::make_unique<WaitsEndWithTheirObstacles>(stage);
}

}  // namespace simulation

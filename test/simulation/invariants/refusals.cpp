// A refusal of claims blocks no other pool and no other size. If a machine would help a pod and its claim is
// not refused, the pod gets it within five minutes. Once the refusal has ended, pods of the refused pool get
// their machines too. A webhook that hangs for the status of providers, hosts or control planes delays no
// launch either. While a claim's first certificate is refused, its pool creates no other machine, which would
// run in vain, too.
#include <algorithm>
#include <map>

#include "test/simulation/invariants/invariant.hpp"
#include "test/simulation/search.hpp"

namespace simulation {
namespace {

// Within this time the operator probes (at the latest after a minute), sees the pod, and stops to expect
// other machines.
constexpr std::chrono::minutes kServedWithin{5};
constexpr std::chrono::seconds kLooks{15};

class RefusalsHoldUpNoOthers final : public Invariant {
public:
    explicit RefusalsHoldUpNoOthers(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (!before && after && world_.network.acting()) check_created(*after);
            });
    }

    void each_second() override {
        note_certificates();
        if (world_.now() < next_look_) return;
        next_look_ = world_.now() + kLooks;
        const auto& hang = world_.interference.status_hang;
        const bool was_lately =
            is_or_was(world_.interference.refusal) || (is_or_was(hang) && !hang.stops_launches());
        const auto& rates = world_.scenario.control_plane.spec.rateLimits;
        // Other trouble can also delay a machine.
        const bool is_calm =
            world_.faults.is_calm() && rates.maxCreationsPerHour == 0 &&
            (stage_.last_deed() == base::TimePoint{} || stage_.last_deed() + kSettled <= world_.now());
        if (!was_lately || !is_calm) {
            helpless_since_.clear();
            return;
        }
        look();
    }

private:
    template <class Obstacle>
    bool is_or_was(const Obstacle& obstacle) const {
        return obstacle.is_in_force ||
               (obstacle.ended != base::TimePoint{} && world_.now() < obstacle.ended + 2 * kServedWithin);
    }

    void look() {
        const auto& claims = world_.view.all<NodeSmithClaim>();
        const bool is_one_coming =
            std::ranges::any_of(claims, [](const auto& entry) { return is_on_its_way(*entry.second); });
        std::map<std::string, base::TimePoint> still;
        for (const auto& [key, pod] : world_.view.all<api::Pod>()) {
            if (is_one_coming || !waits_for_node(*pod)) continue;
            const auto helpful = machine_that_helps(world_, *pod);
            if (!helpful || lacks_room_in_status(*helpful)) continue;
            const auto since = helpless_since_.try_emplace(pod->metadata.uid, world_.now()).first->second;
            still[pod->metadata.uid] = since;
            if (since + kServedWithin >= world_.now()) continue;
            stage_.violate("a refusal holds up no others",
                           "pod " + key.str() + " waits, and " + helpful->str() + " is not launched");
        }
        helpless_since_ = std::move(still);
    }

    // Notes since when claims have said that their first certificate is refused.
    void note_certificates() {
        std::map<std::string, base::TimePoint> still;
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) {
            const auto* registered =
                api::find_condition(claim->status.conditions, api::conditions::kRegistered);
            const bool is_refused = registered && registered->reason == api::reasons::kRequestRefused &&
                                    registered->status != api::ConditionStatus::True &&
                                    registered->message.find("first certificate") != std::string::npos &&
                                    !api::is_true(claim->status.conditions, api::conditions::kFailed);
            if (is_refused && !claim->metadata.deletionTimestamp)
                still[claim->metadata.uid] =
                    refused_since_.try_emplace(claim->metadata.uid, world_.now()).first->second;
        }
        refused_since_ = std::move(still);
    }

    // A leader that knew nothing of the refusal may have begun the claim shortly before.
    void check_created(const NodeSmithClaim& created) const {
        if (!api::controller_of(created.metadata)) return;
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) {
            const auto since = refused_since_.find(claim->metadata.uid);
            if (since == refused_since_.end() || claim->spec.poolRef != created.spec.poolRef) continue;
            if (since->second + kServedWithin < world_.now())
                stage_.violate("a refusal holds up no others", "claim " + created.metadata.name +
                                                                   " is created while the certificate of " +
                                                                   claim->metadata.name + " is refused");
        }
    }

    // Reports whether the status of the provider still shows a full host, because it cannot be written.
    bool lacks_room_in_status(const HelpfulMachine& machine) const {
        if (!world_.interference.status_hang.is_in_force) return false;
        for (const auto& [key, pool] : world_.view.all<NodeSmithPool>()) {
            if (key.name != machine.pool) continue;
            const auto* provider =
                world_.view.find<NodeSmithProvider>({key.namespace_, pool->spec.providerRef});
            if (!provider) continue;
            for (const auto& host : provider->status.hosts)
                if (host.name == machine.host)
                    return host.freeCPUCores < machine.cpu_cores || host.freeMemoryMiB < machine.memory_mib;
        }
        return false;
    }

    base::TimePoint next_look_{};
    std::map<std::string, base::TimePoint> refused_since_;   // claims by UID
    std::map<std::string, base::TimePoint> helpless_since_;  // pods by UID
};

}  // namespace

std::unique_ptr<Invariant> refusals_hold_up_no_others(const Stage& stage) {
    return std::make_unique<RefusalsHoldUpNoOthers>(stage);
}

}  // namespace simulation

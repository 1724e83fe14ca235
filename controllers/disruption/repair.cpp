// Nodes that are not Ready: what their machines are doing, and a second chance by switching them off and on.
#include "base/log.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/decide/observation.hpp"
#include "controllers/disruption/reconciler.hpp"
#include "controllers/disruption/waits.hpp"
#include "controllers/state/claim_state.hpp"
#include "controllers/state/disruption_state.hpp"
#include "controllers/state/fleet.hpp"
#include "controllers/state/identity.hpp"
#include "providers/errors.hpp"

namespace controllers::disruption {

using api::v1alpha1::RepairAction;
namespace conditions = api::conditions;

namespace {

// A Node that is not Ready for that long may well come back by itself.
constexpr auto kPatience = std::chrono::minutes{1};
constexpr base::Duration kAskAgain = std::chrono::minutes{1};
constexpr base::Duration kPowerPoll = std::chrono::seconds{3};
// Who needs it again so soon is replaced.
constexpr auto kChanceLasts = std::chrono::hours{24};

}  // namespace

asio::awaitable<void> DisruptionReconciler::look_at_machines(View view) {
    if (view.pool->spec.disruption.repair.action == RepairAction::None) co_return;
    for (const auto& member : view.members) {
        const auto& claim = *member.claim;
        const auto& uid = claim.metadata.uid;
        const auto since = not_ready_since(*member.node);
        const bool concerns =
            since && since->at + kPatience <= view.now.at && !claim.metadata.deletionTimestamp;
        if (!concerns) switched_off_.erase(uid);
        const auto asked = asked_.find(uid);
        if (!concerns || (asked != asked_.end() && clock_.now() < asked->second + kAskAgain)) continue;
        asked_[uid] = clock_.now();
        const auto provider_key = claim::provider_of(claim);
        const auto object = informers_.providers.store().get(provider_key);
        const auto lookup = co_await instances_.get(provider_key);
        const auto* backend = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
        if (!object || !backend) continue;
        try {
            const auto identity = claim::identity_of(claim, instances_.cluster_id(), object->metadata.uid);
            const auto machine = co_await (*backend)->get(identity, claim::record_of(claim.status));
            switched_off_[uid] = machine && machine->state == providers::MachineState::stopped;
        } catch (const providers::FencedError&) {
            throw;
        } catch (const providers::ProviderError& error) {
            base::log::warning("Could not look at the machine of a node that is not Ready",
                               {{"node", member.node->metadata.name}, {"error", error.what()}});
        }
    }
}

bool DisruptionReconciler::has_a_second_chance(const View& view, const Member& member) {
    if (view.pool->spec.disruption.repair.action != RepairAction::PowerCycleThenReplace) return false;
    const auto* tried = api::find_condition(member.claim->status.conditions, conditions::kPowerCycled);
    return !tried || !tried->lastTransitionTime ||
           tried->lastTransitionTime->at + kChanceLasts <= view.now.at;
}

void DisruptionReconciler::begin_power_cycle(const Member& member) {
    announcer_.say(kube::target_of(*member.node), kube::EventType::warning, "PowerCycling",
                   "the node is not Ready: its machine is switched off and on again before it is replaced");
    reports_.permit(*member.claim, DisruptionReports::Permission::begin_power_cycle);
}

void DisruptionReconciler::permit_power_cycles(Pass& pass) {
    using Permission = DisruptionReports::Permission;
    const auto standing = standing_blocker(facts_of(pass.view));
    // An outage is no time to switch anything off, but what is off was switched off by us.
    if ((standing && !is_outage(standing)) || pass.view.observes()) return;
    for (const auto& member : pass.view.members) {
        if (!is_power_cycling(*member.claim) || member.claim->metadata.deletionTimestamp) continue;
        reports_.permit(*member.claim, standing ? Permission::switch_on : Permission::switch_off_and_on);
        announcer_.settle(member.node->metadata.uid);
        pass.again = sooner(pass.again, kPowerPoll);
    }
}

}  // namespace controllers::disruption

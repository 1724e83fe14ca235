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

namespace controllers::disruption {

using api::v1alpha1::RepairAction;
namespace conditions = api::conditions;

namespace {

// A Node that is not Ready for that long may well come back by itself.
constexpr auto kPatience = std::chrono::minutes{1};
constexpr base::Duration kAskAgain = std::chrono::minutes{1};
constexpr auto kPowerPatience = std::chrono::minutes{10};
constexpr base::Duration kPowerPoll = std::chrono::seconds{3};
// Who needs it again so soon is replaced.
constexpr auto kChanceLasts = std::chrono::hours{24};
// Of the condition PowerCycled.
constexpr const char* kSwitchingOff = "SwitchingOff";
constexpr const char* kSwitchingOn = "SwitchingOn";
constexpr const char* kSwitchedOn = "SwitchedOn";
constexpr const char* kPowerFailed = "PowerFailed";

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

asio::awaitable<void> DisruptionReconciler::begin_power_cycle(View view, Member member) {
    const auto off = std::string("its machine is switched off and on again before it is replaced");
    co_await note_power(member.claim, api::ConditionStatus::False, kSwitchingOff, off, view.now);
    events_.event(kube::target_of(*member.node), kube::EventType::warning, "PowerCycling",
                  "the node is not Ready: " + off);
}

asio::awaitable<void> DisruptionReconciler::advance_power_cycles(Pass& pass) {
    const auto standing = standing_blocker(facts_of(pass.view));
    // An outage is no time to switch anything off, but what is off was switched off by us.
    if ((standing && !is_outage(standing)) || pass.view.observes()) co_return;
    const bool may_switch_off = !standing;
    const auto members = pass.view.members;
    for (const auto& member : members) {
        if (!is_power_cycling(*member.claim) || member.claim->metadata.deletionTimestamp) continue;
        std::string failure;
        try {
            co_await switch_power(pass.view, member, may_switch_off);
        } catch (const providers::FencedError&) {
            throw;
        } catch (const providers::ProviderError& error) {
            failure = error.what();
        }
        if (!failure.empty())
            co_await note_power(member.claim, api::ConditionStatus::True, kPowerFailed, failure,
                                pass.view.now);
        pass.again = sooner(pass.again, kPowerPoll);
    }
}

asio::awaitable<void> DisruptionReconciler::switch_power(View view, Member member, bool may_switch_off) {
    const auto& claim = *member.claim;
    const auto* state = api::find_condition(claim.status.conditions, conditions::kPowerCycled);
    if (state->lastTransitionTime && state->lastTransitionTime->at + kPowerPatience <= view.now.at)
        throw providers::ProviderError("the machine could not be switched off and on within " +
                                       api::Duration(kPowerPatience).str());
    const auto provider_key = claim::provider_of(claim);
    const auto object = informers_.providers.store().get(provider_key);
    const auto lookup = co_await instances_.get(provider_key);
    const auto* backend = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
    if (!object || !backend) co_return;
    const bool is_off_wanted = state->reason == kSwitchingOff && may_switch_off;
    const bool is_back = is_off_wanted && co_await is_ready_now(api::key_of(*member.node));
    if (is_back) {
        co_await forget_power_cycle(member.claim);
        co_return;
    }
    const auto identity = claim::identity_of(claim, instances_.cluster_id(), object->metadata.uid);
    const auto wanted = is_off_wanted ? providers::Power::off : providers::Power::on;
    providers::InUseCheck in_use = [this, node = api::key_of(*member.node)] { return is_ready_now(node); };
    const bool is_so = co_await (*backend)->switch_power(identity, claim::record_of(claim.status), wanted,
                                                         std::move(in_use));
    if (!is_so) co_return;
    if (is_off_wanted)
        co_await note_power(member.claim, api::ConditionStatus::False, kSwitchingOn, "it is off", view.now);
    else
        co_await note_power(member.claim, api::ConditionStatus::True, kSwitchedOn, "it is on again",
                            view.now);
}

asio::awaitable<bool> DisruptionReconciler::is_ready_now(kube::ObjectKey node) {
    const auto live = co_await client_.get<api::Node>(std::move(node));
    co_return live&& is_ready(*live);
}

// The node came back by itself, while nobody led or since the cache heard of it last: pods may run on it.
asio::awaitable<void> DisruptionReconciler::forget_power_cycle(ClaimPointer claim) {
    auto after = *claim;
    api::remove_condition(after.status.conditions, conditions::kPowerCycled);
    co_await write_claim(std::move(claim), std::move(after));
}

asio::awaitable<void> DisruptionReconciler::note_power(ClaimPointer claim, api::ConditionStatus status,
                                                       std::string reason, std::string message,
                                                       api::Time now) {
    auto after = *claim;
    claim::set(after.status, conditions::kPowerCycled, status, reason, std::move(message), now);
    co_await write_claim(std::move(claim), std::move(after));
}

}  // namespace controllers::disruption

#include "controllers/disruption/methods/pass.hpp"

#include <algorithm>

#include "controllers/disruption/facts/disruption_state.hpp"
#include "kube/controller.hpp"

namespace controllers::disruption {

PodRules pod_rules(const PoolView& view, const Member& member, Kind kind, bool all_at_once) {
    PodRules rules{kind, view.budgets};
    rules.has_deadline = member.claim->spec.terminationGracePeriod.has_value();
    rules.all_at_once = all_at_once;
    rules.spared = member.tied_pods;
    rules.empty_dir = view.pool->spec.disruption.emptyDir;
    const auto& scale_down = view.pool->spec.scaleDown;
    if (scale_down.drainTimeoutAction == api::v1alpha1::DrainTimeoutAction::Abort)
        rules.given_up_after = scale_down.drainTimeout;
    return rules;
}

void Pass::renew(PoolView view) {
    view_.emplace(std::move(view));
    world_.reset();
    places_.clear();
    kept_.clear();
}

const provisioning::World& Pass::world() {
    if (!world_) {
        world_.emplace(means_.look_at_world());
        const auto& nodes = world_->snapshot.nodes;
        for (std::size_t i = 0; i < nodes.size(); ++i) places_[nodes[i].node->metadata.name] = i;
    }
    return *world_;
}

std::optional<std::size_t> Pass::place_of(const Member& member) {
    world();
    const auto place = places_.find(member.node->metadata.name);
    return place == places_.end() ? std::nullopt : std::optional(place->second);
}

void Pass::look_again(std::optional<base::Duration> wait) {
    again_ = kube::sooner(again_, wait);
}

void Pass::look_again_at(std::optional<api::Time> when) {
    if (when) look_again(std::max<base::Duration>(when->at - view_->now.at, std::chrono::seconds{1}));
}

std::optional<std::string> Pass::refusal_of(const Member& member, Kind kind) {
    if (auto undone = undone_lately(*member.claim, kind, view_->now)) {
        look_again_at(undone->until);
        return std::move(undone->message);
    }
    const auto* refusal = means_.refusals.find(member.claim->metadata.uid, kind);
    if (!refusal) return std::nullopt;
    look_again(refusal->until - means_.clock.now());
    return refusal->message;
}

void Pass::refuse(const Member& member, Kind kind, const std::string& why) {
    means_.refusals.note(member.claim->metadata.uid, kind, why);
}

void Pass::keep(const Member& member, Kind kind, Blocker why, bool is_news) {
    kept_.try_emplace(member.node->metadata.name, Kept{&member, kind, std::move(why), is_news});
}

}  // namespace controllers::disruption

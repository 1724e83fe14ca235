#include "test/simulation/neighbours.hpp"

#include "api/names.hpp"

namespace simulation {

namespace {

constexpr std::chrono::minutes kShortestUse{2};
constexpr std::uint64_t kLongestUseMinutes = 90;
// Half of the racks have no neighbours.
constexpr std::uint64_t kMostPerHour = 8;

bool says_in_use_by_others(const api::Conditions& conditions, std::string_view type) {
    const auto* condition = api::find_condition(conditions, type);
    return condition && condition->status == api::ConditionStatus::False &&
           condition->reason == "InUseByOthers";
}

}  // namespace

Neighbours::Neighbours(World& world)
    : world_(world),
      random_(world.random_for("neighbours")),
      per_hour_(random_->below(2) == 0 ? 0 : static_cast<double>(1 + random_->below(kMostPerHour))) {}

void Neighbours::begin() {
    if (per_hour_ > 0 && !world_.bmcs.names().empty()) arm();
}

void Neighbours::arm() {
    const auto mean = std::chrono::duration<double, std::ratio<3600>>(2 * random_->unit() / per_hour_);
    next_ = world_.clock.call_at(world_.now() + std::chrono::duration_cast<base::Duration>(mean), [this] {
        take_one();
        arm();
    });
}

void Neighbours::take_one() {
    const auto names = world_.bmcs.names();
    const auto& name = names[random_->below(names.size())];
    const auto* host = world_.view.find<NodeSmithHost>({kNodesNamespace, name});
    // A host that a claim turned on remains the claim's if it goes off by itself and somebody turns it on
    // again.
    if (!host || host->status.wokenTime || !world_.bmcs.lend(name)) return;
    taken_.insert(name);
    const auto use = kShortestUse + std::chrono::minutes{random_->below(kLongestUseMinutes)};
    returns_.push_back(world_.clock.call_at(world_.now() + use, [this, name] {
        if (world_.bmcs.lent_since(name)) world_.bmcs.turn_off(name);
    }));
}

void Neighbours::make_peace() {
    next_.reset();
    returns_.clear();
    for (const auto& name : taken_)
        if (world_.bmcs.lent_since(name)) world_.bmcs.turn_off(name);
    if (!world_.bmcs.names().empty()) heed_reports();
}

void Neighbours::heed_reports() {
    std::set<std::string> told_of;
    for (const auto& [key, host] : world_.view.all<NodeSmithHost>())
        if (says_in_use_by_others(host->status.conditions, api::conditions::kReady)) told_of.insert(key.name);
    for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>())
        if (says_in_use_by_others(claim->status.conditions, api::conditions::kMachineDeleted))
            told_of.insert(claim->status.host);
    for (const auto& name : told_of)
        if (world_.bmcs.has(name) && !world_.bmcs.is_foreign(name)) world_.bmcs.turn_off(name);
    next_ = world_.clock.call_at(world_.now() + std::chrono::minutes{1}, [this] { heed_reports(); });
}

}  // namespace simulation

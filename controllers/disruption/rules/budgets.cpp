#include "controllers/disruption/rules/budgets.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "controllers/disruption/rules/cron.hpp"

namespace controllers::disruption {

using api::v1alpha1::DisruptionBudget;

namespace {

// Limits when a budget whose time may end is checked again.
constexpr auto kScheduleStep = std::chrono::minutes{1};

bool is_about(const DisruptionBudget& budget, Kind kind) {
    return budget.reasons.empty() || std::ranges::find(budget.reasons, kind) != budget.reasons.end();
}

bool is_active(const DisruptionBudget& budget, api::Time now) {
    if (budget.schedule.empty() || !budget.duration) return true;
    const auto lasts = std::chrono::ceil<std::chrono::seconds>(budget.duration->value);
    const auto start = CronSchedule::parse(budget.schedule).last_start(now.at, lasts);
    return start && now.at < *start + lasts;
}

// Rounds percentages up, so that 10 % of three nodes is one.
std::int64_t allowed(const DisruptionBudget& budget, std::int64_t nodes) {
    constexpr std::int64_t kWhole = 100;
    if (const auto number = budget.nodes.as_integer()) return *number;
    const auto text = budget.nodes.str();
    std::int64_t percent = 0;
    std::from_chars(text.data(), text.data() + text.size(), percent);
    return text.ends_with('%') ? (nodes * percent + kWhole - 1) / kWhole : percent;
}

std::string described(const DisruptionBudget& budget) {
    const auto nodes = budget.nodes.str();
    const auto unit = nodes.ends_with('%') ? " of the nodes" : nodes == "1" ? " node" : " nodes";
    auto text = "disruption.budgets allows " + nodes + unit;
    if (!budget.schedule.empty()) text += " during \"" + budget.schedule + "\"";
    return text;
}

}  // namespace

std::optional<std::int64_t> budget_room(const api::v1alpha1::Disruption& disruption, Kind kind, BudgetUse use,
                                        api::Time now) {
    std::optional<std::int64_t> room;
    for (const auto& budget : disruption.budgets) {
        if (!is_about(budget, kind) || !is_active(budget, now)) continue;
        const auto left = std::max<std::int64_t>(0, allowed(budget, use.nodes) - use.disrupted);
        room = std::min(room.value_or(left), left);
    }
    return room;
}

std::optional<Blocker> budget_blocker(const api::v1alpha1::Disruption& disruption, Kind kind, BudgetUse use,
                                      api::Time now) {
    for (const auto& budget : disruption.budgets) {
        Blocker blocker{"Budget", "", std::nullopt};
        if (!budget.schedule.empty()) blocker.until = api::Time(now.at + kScheduleStep);
        try {
            if (!is_about(budget, kind) || !is_active(budget, now)) continue;
        } catch (const std::invalid_argument& error) {
            blocker.message = "disruption.budgets cannot be understood: " + std::string(error.what());
            return blocker;
        }
        if (use.disrupted < allowed(budget, use.nodes)) continue;
        blocker.message = described(budget);
        return blocker;
    }
    return std::nullopt;
}

}  // namespace controllers::disruption

#include "operator/status_page/decision_log.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace kubenodesmith::status_page {
namespace {

constexpr std::size_t kMostDecisions = 100;
constexpr std::size_t kLongestDecision = 600;

std::string name_of(const kube::EventTarget& target) {
    const auto name = target.namespace_.empty() ? target.name : target.namespace_ + "/" + target.name;
    return target.kind + " " + name;
}

}  // namespace

void DecisionLog::event(const kube::EventTarget& about, kube::EventType type, std::string reason,
                        std::string message) {
    LoggedDecision decision{api::Time(clock_.wall_now()), type, name_of(about), reason,
                            base::shortened(message, kLongestDecision)};
    const auto same = std::ranges::find_if(decisions_, [&](const LoggedDecision& known) {
        return known.about == decision.about && known.reason == decision.reason &&
               known.message == decision.message;
    });
    if (same != decisions_.end()) {
        decision.count += same->count;
        decisions_.erase(same);
    }
    decisions_.push_front(std::move(decision));
    if (decisions_.size() > kMostDecisions) decisions_.pop_back();
    next_.event(about, type, std::move(reason), std::move(message));
}

}  // namespace kubenodesmith::status_page

#include "controllers/services/claim_refusals.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/backoff.hpp"

namespace controllers {

void ClaimRefusals::note(const NodeSmithPool& pool, const api::v1alpha1::Size& size,
                         const std::string& message) {
    auto& entry = pools_[api::key_of(pool)];
    if (!is_current(entry, pool)) entry = Entry{pool.metadata.uid, pool.metadata.generation, {}};
    auto found = std::ranges::find(entry.refusals, size, &ClaimRefusal::size);
    if (found == entry.refusals.end())
        found = entry.refusals.insert(entry.refusals.end(), ClaimRefusal{size, {}, 0, {}});
    const base::Backoff pauses{kShortestPause, kLongestPause};
    found->message = message;
    found->pause_ends = clock_.now() + pauses.after(++found->tries);
    tell(pool);
}

void ClaimRefusals::note_probe(const NodeSmithPool& pool, const api::v1alpha1::Size& size) {
    const auto entry = pools_.find(api::key_of(pool));
    if (entry == pools_.end() || !is_current(entry->second, pool)) return;
    const auto found = std::ranges::find(entry->second.refusals, size, &ClaimRefusal::size);
    if (found != entry->second.refusals.end()) found->pause_ends = clock_.now() + kLongestPause;
}

void ClaimRefusals::note_success(const NodeSmithPool& pool, const api::v1alpha1::Size& size) {
    const auto entry = pools_.find(api::key_of(pool));
    if (entry == pools_.end()) return;
    const auto is_of_size = [&size](const ClaimRefusal& refusal) { return refusal.size == size; };
    if (std::erase_if(entry->second.refusals, is_of_size) == 0) return;
    if (entry->second.refusals.empty()) pools_.erase(entry);
    tell(pool);
}

std::vector<ClaimRefusal> ClaimRefusals::of(const NodeSmithPool& pool) const {
    const auto entry = pools_.find(api::key_of(pool));
    if (entry == pools_.end() || !is_current(entry->second, pool)) return {};
    auto refusals = entry->second.refusals;
    std::erase_if(refusals, [this](const ClaimRefusal& refusal) {
        return clock_.now() >= refusal.pause_ends + kBelieved;
    });
    return refusals;
}

std::vector<ClaimRefusal> ClaimRefusals::pauses_of(const NodeSmithPool& pool) const {
    auto refusals = of(pool);
    std::erase_if(refusals,
                  [this](const ClaimRefusal& refusal) { return clock_.now() >= refusal.pause_ends; });
    return refusals;
}

api::Time ClaimRefusals::next_try(const NodeSmithPool& pool, api::Time now) const {
    const auto pauses = pauses_of(pool);
    const auto first = std::ranges::min_element(pauses, {}, &ClaimRefusal::pause_ends);
    if (first == pauses.end()) return now;
    return api::Time(now.at + std::chrono::ceil<std::chrono::seconds>(first->pause_ends - clock_.now()));
}

void ClaimRefusals::tell(const NodeSmithPool& pool) const {
    if (listener_) listener_(api::key_of(pool));
}

bool is_refusal(const kube::ApiError& error) {
    const auto says = [&error](const char* words) { return error.message.find(words) != std::string::npos; };
    // An admission webhook may answer with any code. If it is down, the API server reports
    // an internal error before it acts.
    if (says("denied the request") || says("failed calling webhook")) return true;
    constexpr int kRefusals[] = {400, 403, 405, 413, 415, 422};
    return std::ranges::find(kRefusals, error.code) != std::end(kRefusals);
}

bool is_policy_denial(const kube::ApiError& error) {
    return error.is_denial() || error.message.find("ValidatingAdmissionPolicy '") != std::string::npos;
}

}  // namespace controllers

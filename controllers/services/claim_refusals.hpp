// Remembers which claims the API server refused to create: an object quota, an admission policy or a webhook
// may refuse those of one pool, or of one size. Each refused size of a pool is asked for again after a pause
// that grows to a minute, so that an obstacle that is gone is noticed soon. Forgets with the process: the
// next one asks once and knows as much.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "controllers/cache/kinds.hpp"
#include "kube/client.hpp"

namespace controllers {

struct ClaimRefusal {
    api::v1alpha1::Size size;
    std::string message;  // the API server's own words
    int tries = 0;        // in a row
    base::TimePoint pause_ends{};
};

class ClaimRefusals {
public:
    // At least one claim a minute probes an obstacle while pods wait.
    static constexpr base::Duration kShortestPause = std::chrono::seconds{2};
    static constexpr base::Duration kLongestPause = std::chrono::minutes{1};
    // A refusal whose pause ended so long ago is no longer believed: nothing has asked since.
    static constexpr base::Duration kBelieved = std::chrono::minutes{2};

    explicit ClaimRefusals(const base::Clock& clock) : clock_(clock) {}

    // Called with a pool's key when what is known of it changes.
    void on_change(std::function<void(const kube::ObjectKey&)> listener) { listener_ = std::move(listener); }

    void note(const NodeSmithPool& pool, const api::v1alpha1::Size& size, const std::string& message);
    // A size that was refused before is asked for now: its pause goes on until there is an answer.
    void note_probe(const NodeSmithPool& pool, const api::v1alpha1::Size& size);
    // A claim of that size was created.
    void note_success(const NodeSmithPool& pool, const api::v1alpha1::Size& size);
    // The refusals that are still believed, whether their pause has ended or not. Another object of the
    // pool's name starts afresh, and so does a pool whose spec was changed.
    std::vector<ClaimRefusal> of(const NodeSmithPool& pool) const;
    // Those whose pause has not ended.
    std::vector<ClaimRefusal> pauses_of(const NodeSmithPool& pool) const;
    // When the first of these pauses ends; `now` if there is none. Rounded up, as times have whole seconds.
    api::Time next_try(const NodeSmithPool& pool, api::Time now) const;
    void forget(const kube::ObjectKey& pool) { pools_.erase(pool); }

private:
    struct Entry {
        std::string uid;
        std::optional<std::int64_t> generation;
        std::vector<ClaimRefusal> refusals;
    };
    bool is_current(const Entry& entry, const NodeSmithPool& pool) const {
        return entry.uid == pool.metadata.uid && entry.generation == pool.metadata.generation;
    }
    void tell(const NodeSmithPool& pool) const;

    const base::Clock& clock_;
    std::function<void(const kube::ObjectKey&)> listener_;
    std::map<kube::ObjectKey, Entry> pools_;
};

// Reports whether the API server has surely not done what was asked, and will not before somebody does
// something: a missing right, a quota, a policy, a rule of the schema, or a webhook that denies or is down.
bool is_refusal(const kube::ApiError& error);

}  // namespace controllers

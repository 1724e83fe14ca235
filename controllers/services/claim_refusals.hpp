// Remembers which claims the API server refused to create. An object quota, an admission policy or a
// webhook may refuse the claims of one pool or size. Each refused size is tried again after a pause
// that grows to a minute, so that recovery is noticed soon. It does not outlive the process. The next
// process learns it from one attempt.
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
#include "kube/slow_answers.hpp"

namespace controllers {

struct ClaimRefusal {
    api::v1alpha1::Size size;
    std::string message;  // message of the API server
    int tries = 0;        // consecutive attempts
    base::TimePoint pause_ends{};
};

class ClaimRefusals {
public:
    // While pods wait, an obstacle is probed by at least one claim a minute.
    static constexpr base::Duration kShortestPause = std::chrono::seconds{2};
    static constexpr base::Duration kLongestPause = std::chrono::minutes{1};
    // A refusal expires this long after its pause, because nothing has been tried since.
    static constexpr base::Duration kBelieved = std::chrono::minutes{2};

    explicit ClaimRefusals(const base::Clock& clock) : clock_(clock) {}

    // Sets a listener that gets a pool's key when its refusals change.
    void on_change(std::function<void(const kube::ObjectKey&)> listener) { listener_ = std::move(listener); }

    void note(const NodeSmithPool& pool, const api::v1alpha1::Size& size, const std::string& message);
    // Notes that a refused size is being tried now. Its pause continues until there is an answer.
    void note_probe(const NodeSmithPool& pool, const api::v1alpha1::Size& size);
    // Notes that a claim of that size was created.
    void note_success(const NodeSmithPool& pool, const api::v1alpha1::Size& size);
    // Returns the refusals that have not expired, even if their pause has ended. A replaced pool starts
    // without refusals, and so does a pool with a changed spec.
    std::vector<ClaimRefusal> of(const NodeSmithPool& pool) const;
    // Returns refusals whose pause has not ended.
    std::vector<ClaimRefusal> pauses_of(const NodeSmithPool& pool) const;
    // Returns when the first of these pauses ends, rounded up to whole seconds; `now` if there is none.
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

// Reports whether the API server has certainly not done what was requested, and will not until someone acts.
// The cause is a missing right, a quota, a policy, the schema, or a webhook that denies or is down.
bool is_refusal(const kube::ApiError& error);
// Reports whether an admission webhook or policy denied it, in the words of the API server. Such a denial may
// have the code of a missing right.
bool is_policy_denial(const kube::ApiError& error);
using kube::is_unanswered;
using kube::took_long;

}  // namespace controllers

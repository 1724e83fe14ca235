// What was found in the way of nodes' leaving, so that it is not tried again at once: nothing here is urgent.
// Forgets with the process.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "base/clock.hpp"
#include "controllers/state/blocker.hpp"

namespace controllers::disruption {

class Refusals {
public:
    struct Refusal {
        Kind kind = Kind::Empty;
        std::string message;
        base::TimePoint until;
    };
    static constexpr base::Duration kLasts = std::chrono::minutes{5};

    explicit Refusals(const base::Clock& clock) : clock_(clock) {}

    void note(const std::string& claim_uid, Kind kind, std::string message) {
        by_claim_[claim_uid] = {kind, std::move(message), clock_.now() + kLasts};
    }
    // Null when there is none that still holds.
    const Refusal* find(const std::string& claim_uid, Kind kind) const {
        const auto found = by_claim_.find(claim_uid);
        const bool holds =
            found != by_claim_.end() && found->second.kind == kind && clock_.now() < found->second.until;
        return holds ? &found->second : nullptr;
    }
    void forget(const std::string& claim_uid) { by_claim_.erase(claim_uid); }

    // Machines that were to be created instead of a pool's nodes were not to be had: each time it takes twice
    // as long until they are wished for again.
    void pause_replacements(const api::ObjectKey& pool) {
        auto& pause = by_pool_[pool];
        pause.lasts = std::clamp(2 * pause.lasts, kShortestPause, kLongestPause);
        pause.until = clock_.now() + pause.lasts;
    }
    bool may_replace(const api::ObjectKey& pool) const {
        const auto pause = by_pool_.find(pool);
        return pause == by_pool_.end() || pause->second.until <= clock_.now();
    }
    // They were to be had, or the pool is gone.
    void end_pause(const api::ObjectKey& pool) { by_pool_.erase(pool); }

private:
    struct Pause {
        base::Duration lasts{};
        base::TimePoint until;
    };
    static constexpr base::Duration kShortestPause = std::chrono::minutes{10};
    static constexpr base::Duration kLongestPause = std::chrono::hours{6};

    const base::Clock& clock_;
    std::map<std::string, Refusal> by_claim_;
    std::map<api::ObjectKey, Pause> by_pool_;
};

}  // namespace controllers::disruption

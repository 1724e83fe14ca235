// Remembers why simulations found nodes irremovable, so that they are not repeated immediately: nothing here
// is urgent. It does not outlive the process. The next process gets the same result from one more simulation.
#pragma once

#include <map>
#include <string>

#include "base/clock.hpp"
#include "controllers/disruption/facts/blocker.hpp"

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
    // Returns null if no valid refusal exists.
    const Refusal* find(const std::string& claim_uid, Kind kind) const {
        const auto found = by_claim_.find(claim_uid);
        const bool holds =
            found != by_claim_.end() && found->second.kind == kind && clock_.now() < found->second.until;
        return holds ? &found->second : nullptr;
    }
    void forget(const std::string& claim_uid) { by_claim_.erase(claim_uid); }

private:
    const base::Clock& clock_;
    std::map<std::string, Refusal> by_claim_;
};

}  // namespace controllers::disruption

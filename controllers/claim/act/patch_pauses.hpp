// Limits how often the same patch of a Node is repeated, because another program may undo each one. It is
// kept in memory only: a new process starts with short pauses.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/backoff.hpp"
#include "base/clock.hpp"

namespace controllers::claim {

class PatchPauses {
public:
    explicit PatchPauses(const base::Clock& clock) : clock_(clock) {}

    // Returns how long to wait before the change may be repeated. nullopt: it may be made now, and counts as
    // made. The first two times are free, because crashes and lost answers cause repetitions.
    std::optional<base::Duration> begin(const std::string& claim_uid, const std::string& change) {
        const auto now = clock_.now();
        std::erase_if(last_, [now](const auto& entry) { return entry.second.at + kForgotten <= now; });
        auto& last = last_[claim_uid + "/" + change];
        const auto ready = last.at + kPauses.after(last.times - 1);
        if (last.times > 0 && now < ready) return ready - now;
        ++last.times;
        last.at = now;
        return std::nullopt;
    }

private:
    struct Last {
        base::TimePoint at;
        int times = 0;
    };
    static constexpr base::Backoff kPauses{std::chrono::seconds{2}, std::chrono::minutes{5}};
    static constexpr base::Duration kForgotten = std::chrono::minutes{15};

    const base::Clock& clock_;
    std::map<std::string, Last> last_;  // by claim UID and change
};

}  // namespace controllers::claim

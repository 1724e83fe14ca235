// GrowingPauses limits retries after temporary failures. The pause grows with each consecutive failure, as a
// hanging task may hold a lock for an hour. Pauses are in memory and start anew after a restart.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/backoff.hpp"
#include "base/clock.hpp"

namespace providers::proxmox {

class GrowingPauses {
public:
    explicit GrowingPauses(base::Clock& clock) : clock_(clock) {}

    struct Left {
        base::Duration wait{};
        std::string why;
        bool lacks_right = false;
    };

    // Records another failure for the machine (by its SMBIOS UUID) and returns the time to wait. A missing
    // right has longer pauses: a person must grant it, and many machines may need it.
    base::Duration begin(const std::string& uuid, std::string why = {}, bool lacks_right = false) {
        std::erase_if(pauses_,
                      [this](const auto& entry) { return clock_.now() - entry.second.until > kForgotten; });
        auto& pause = pauses_[uuid];
        const auto wait = (lacks_right ? kForPerson : kBackoff).after(++pause.failures);
        pause.until = clock_.now() + wait;
        pause.why = std::move(why);
        pause.lacks_right = lacks_right;
        return wait;
    }
    // Returns the rest of a pause that has a reason; nullopt: none, or it is over. A call during the pause
    // must wait, whatever triggered it.
    std::optional<Left> left(const std::string& uuid) const {
        const auto pause = pauses_.find(uuid);
        if (pause == pauses_.end() || pause->second.why.empty() || !lasts(uuid)) return std::nullopt;
        return Left{pause->second.until - clock_.now(), pause->second.why, pause->second.lacks_right};
    }
    bool lasts(const std::string& uuid) const {
        const auto pause = pauses_.find(uuid);
        return pause != pauses_.end() && clock_.now() < pause->second.until;
    }
    void end(const std::string& uuid) { pauses_.erase(uuid); }

private:
    struct Pause {
        int failures = 0;
        base::TimePoint until{};
        std::string why;
        bool lacks_right = false;
    };
    static constexpr base::Backoff kBackoff{std::chrono::seconds{3}, std::chrono::minutes{1}};
    static constexpr base::Backoff kForPerson{std::chrono::seconds{30}, std::chrono::minutes{1}};
    static constexpr base::Duration kForgotten = std::chrono::minutes{10};

    base::Clock& clock_;
    std::map<std::string, Pause> pauses_;
};

}  // namespace providers::proxmox

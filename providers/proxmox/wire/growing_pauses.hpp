// How long until what failed in passing is tried again: longer with each failure in a row, as a lock may be
// held by a task that hangs for an hour. Kept in memory; after a restart it begins anew.
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

    // Another failure for the machine (by its SMBIOS UUID): how long to wait from now on. A right that lacks
    // is given back by a person, who is no quicker than half a minute, and many machines may want it.
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
    // Of a pause with a reason; nullopt: there is none, or it is over. Whoever is called meanwhile, by
    // whatever change, has to wait.
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

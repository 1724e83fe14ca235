// VMIDs that turned out to be taken although no guest shows that has them: by guests that the token may not
// see, or by what is locked for ever. Each is tried again later, after pauses that grow to an hour.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "base/backoff.hpp"
#include "base/clock.hpp"

namespace providers::proxmox {

class RefusedIds {
public:
    explicit RefusedIds(base::Clock& clock) : clock_(clock) {}

    void refuse(std::int64_t vmid) {
        std::erase_if(refused_, [this](const auto& entry) {
            return clock_.now() - entry.second.until > kPauses.maximum;
        });
        auto& refusal = refused_[vmid];
        refusal.until = clock_.now() + kPauses.after(++refusal.times);
    }
    // Those that are not to be tried now.
    std::set<std::int64_t> now() const {
        std::set<std::int64_t> ids;
        for (const auto& [vmid, refusal] : refused_)
            if (clock_.now() < refusal.until) ids.insert(vmid);
        return ids;
    }

private:
    struct Refusal {
        int times = 0;
        base::TimePoint until{};
    };
    static constexpr base::Backoff kPauses{std::chrono::minutes{5}, std::chrono::hours{1}};

    base::Clock& clock_;
    std::map<std::int64_t, Refusal> refused_;
};

}  // namespace providers::proxmox

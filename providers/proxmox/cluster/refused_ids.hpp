// RefusedIds remembers VMIDs that are taken although no visible guest has them. An invisible guest may own
// them, or a permanent lock. Each may be tried again after an hour.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "base/clock.hpp"

namespace providers::proxmox {

class RefusedIds {
public:
    explicit RefusedIds(base::Clock& clock) : clock_(clock) {}

    void refuse(std::int64_t vmid) {
        std::erase_if(refused_, [this](const auto& entry) { return clock_.now() >= entry.second; });
        refused_[vmid] = clock_.now() + kRemembered;
    }
    // Returns the VMIDs that must not be tried now.
    std::set<std::int64_t> now() const {
        std::set<std::int64_t> ids;
        for (const auto& [vmid, until] : refused_)
            if (clock_.now() < until) ids.insert(vmid);
        return ids;
    }

private:
    static constexpr base::Duration kRemembered = std::chrono::hours{1};

    base::Clock& clock_;
    std::map<std::int64_t, base::TimePoint> refused_;  // VMID -> end of the refusal
};

}  // namespace providers::proxmox

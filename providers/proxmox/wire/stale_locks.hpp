// How long a VM has been locked by a creation that nobody works on, so that nothing waits for it for ever.
#pragma once

#include <map>

#include "base/clock.hpp"

namespace providers::proxmox {

class StaleLocks {
public:
    explicit StaleLocks(base::Clock& clock) : clock_(clock) {}

    // True once the lock has been seen, without a task, for half a minute.
    bool seen(std::int64_t vmid) {
        constexpr base::Duration kStale = std::chrono::seconds{30};
        return clock_.now() - first_seen_.try_emplace(vmid, clock_.now()).first->second >= kStale;
    }
    void forget(std::int64_t vmid) { first_seen_.erase(vmid); }

private:
    base::Clock& clock_;
    std::map<std::int64_t, base::TimePoint> first_seen_;
};

}  // namespace providers::proxmox

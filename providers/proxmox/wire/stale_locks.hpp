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
        // A lock that nobody looked at for long is another one: the next machine may have the same VMID.
        static constexpr base::Duration kSameLock = std::chrono::minutes{10};
        const auto now = clock_.now();
        std::erase_if(locks_, [now](const auto& entry) { return now - entry.second.last > kSameLock; });
        auto& lock = locks_.try_emplace(vmid, Lock{now, now}).first->second;
        lock.last = now;
        return now - lock.first >= kStale;
    }
    void forget(std::int64_t vmid) { locks_.erase(vmid); }

private:
    struct Lock {
        base::TimePoint first;
        base::TimePoint last;  // seen so
    };
    base::Clock& clock_;
    std::map<std::int64_t, Lock> locks_;
};

}  // namespace providers::proxmox

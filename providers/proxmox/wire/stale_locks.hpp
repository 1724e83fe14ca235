// How long a VM has been locked by a creation that no task works on, so that nothing waits for it for ever.
#pragma once

#include <map>
#include <string>

#include "base/clock.hpp"

namespace providers::proxmox {

class StaleLocks {
public:
    explicit StaleLocks(base::Clock& clock) : clock_(clock) {}

    // Returns true once the lock has been seen, without a task, for half a minute. It is the machine's, which
    // its SMBIOS UUID names: the next VM with the same VMID is locked by a creation of its own.
    bool seen(const std::string& uuid) {
        constexpr base::Duration kStale = std::chrono::seconds{30};
        // Nobody looked at it for long: the machine may have been made anew meanwhile.
        static constexpr base::Duration kSameLock = std::chrono::minutes{10};
        const auto now = clock_.now();
        std::erase_if(locks_, [now](const auto& entry) { return now - entry.second.last > kSameLock; });
        auto& lock = locks_.try_emplace(uuid, Lock{now, now}).first->second;
        lock.last = now;
        return now - lock.first >= kStale;
    }
    void forget(const std::string& uuid) { locks_.erase(uuid); }

private:
    struct Lock {
        base::TimePoint first;
        base::TimePoint last;  // seen so
    };
    base::Clock& clock_;
    std::map<std::string, Lock> locks_;  // by SMBIOS UUID
};

}  // namespace providers::proxmox

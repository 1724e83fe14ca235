// StaleLocks measures how long a creation's lock exists without a task, so that no caller waits for it
// forever.
#pragma once

#include <map>
#include <string>

#include "base/clock.hpp"

namespace providers::proxmox {

class StaleLocks {
public:
    explicit StaleLocks(base::Clock& clock) : clock_(clock) {}

    // Returns true once the lock has been seen without a task for half a minute. The machine's SMBIOS UUID is
    // the key, as the next VM with the same VMID has its own lock.
    bool seen(const std::string& uuid) {
        constexpr base::Duration kStale = std::chrono::seconds{30};
        // After such a time without a look, the machine may have been made anew.
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
        base::TimePoint last;  // last time it was seen
    };
    base::Clock& clock_;
    std::map<std::string, Lock> locks_;  // by SMBIOS UUID
};

}  // namespace providers::proxmox

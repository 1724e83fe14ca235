// CloneSlots limits the clones that run from templates of one host. A storage copies them one after another,
// and locks time out if too many wait. The slots are in memory; after a restart they fill with the first
// looks at tasks.
#pragma once

#include <map>
#include <string>

#include "base/clock.hpp"

namespace providers::proxmox {

class CloneSlots {
public:
    CloneSlots(base::Clock& clock, std::int64_t per_host) : clock_(clock), per_host_(per_host) {}

    // Returns true if the machine (by its SMBIOS UUID) may be cloned from that host now. It then holds a
    // slot.
    bool take(const std::string& host, const std::string& uuid) {
        auto& slots = by_host_[host];
        std::erase_if(slots, [this](const auto& slot) { return clock_.now() - slot.second > kForgotten; });
        const bool has_one = slots.contains(uuid);
        if (!has_one && static_cast<std::int64_t>(slots.size()) >= per_host_) return false;
        slots[uuid] = clock_.now();
        return true;
    }
    // Keeps the slot taken, as the clone was seen running.
    void keep(const std::string& host, const std::string& uuid) { by_host_[host][uuid] = clock_.now(); }
    void give_back(const std::string& uuid) {
        for (auto& [host, slots] : by_host_) slots.erase(uuid);
    }

private:
    // Clone tasks are polled every few seconds. A task that was not polled for this long was given up.
    static constexpr base::Duration kForgotten = std::chrono::minutes{1};

    base::Clock& clock_;
    std::int64_t per_host_;
    std::map<std::string, std::map<std::string, base::TimePoint>> by_host_;
};

}  // namespace providers::proxmox

// How many clones of a template's host are under way: its storage copies them one after the other, and locks
// time out when too many wait. Kept in memory; after a restart it fills again with the first looks at tasks.
#pragma once

#include <map>
#include <string>

#include "base/clock.hpp"

namespace providers::proxmox {

class CloneSlots {
public:
    CloneSlots(base::Clock& clock, std::int64_t per_host) : clock_(clock), per_host_(per_host) {}

    // True if the machine (by its SMBIOS UUID) may be cloned from that host now; it has a slot then.
    bool take(const std::string& host, const std::string& uuid) {
        auto& slots = by_host_[host];
        std::erase_if(slots, [this](const auto& slot) { return clock_.now() - slot.second > kForgotten; });
        const bool has_one = slots.contains(uuid);
        if (!has_one && static_cast<std::int64_t>(slots.size()) >= per_host_) return false;
        slots[uuid] = clock_.now();
        return true;
    }
    // Its clone was seen at work: the slot stays taken.
    void keep(const std::string& host, const std::string& uuid) { by_host_[host][uuid] = clock_.now(); }
    void give_back(const std::string& uuid) {
        for (auto& [host, slots] : by_host_) slots.erase(uuid);
    }

private:
    // Tasks are asked for every few seconds; one that nobody asks for any more was given up.
    static constexpr base::Duration kForgotten = std::chrono::minutes{1};

    base::Clock& clock_;
    std::int64_t per_host_;
    std::map<std::string, std::map<std::string, base::TimePoint>> by_host_;
};

}  // namespace providers::proxmox

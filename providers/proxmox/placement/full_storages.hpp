// FullStorages remembers storages that had no room for a new disk. No machine uses them during a pause, which
// grows with each refusal. The pause ends early if Proxmox shows more free room.
#pragma once

#include <map>
#include <string>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "providers/proxmox/cluster/cluster_state.hpp"

namespace providers::proxmox {

class FullStorages {
public:
    explicit FullStorages(base::Clock& clock) : clock_(clock) {}

    void note(const StorageState& storage, std::string cause) {
        std::erase_if(
            full_, [this](const auto& entry) { return clock_.now() - entry.second.until > kPauses.maximum; });
        auto& full = full_[storage.key()];
        full.until = clock_.now() + kPauses.after(++full.times);
        full.used_mib = storage.used_mib;
        full.cause = std::move(cause);
    }
    // Returns Proxmox' answer when the storage was full; empty: try it.
    std::string cause(const StorageState& storage) const {
        const auto found = full_.find(storage.key());
        if (found == full_.end()) return {};
        const auto& full = found->second;
        const bool has_more_room = storage.used_mib + kNoticed <= full.used_mib;
        return clock_.now() < full.until && !has_more_room ? full.cause : std::string();
    }

private:
    struct Full {
        int times = 0;
        base::TimePoint until{};
        std::int64_t used_mib = 0;
        std::string cause;
    };
    static constexpr base::Backoff kPauses{std::chrono::minutes{1}, std::chrono::minutes{30}};
    static constexpr std::int64_t kNoticed = 512;  // in MiB

    base::Clock& clock_;
    std::map<std::string, Full> full_;
};

}  // namespace providers::proxmox

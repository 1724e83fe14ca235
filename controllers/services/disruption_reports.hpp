// What the disruption controller finds out about the nodes of claims, and what it permits: for the claims'
// reconciler, which alone writes their status, drains their nodes and switches their machines. In memory
// only, as a process that starts anew finds out and permits the same. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "controllers/cache/kinds.hpp"

namespace controllers {

class DisruptionReports {
public:
    struct Use {
        std::optional<api::Time> empty_since;
        std::optional<api::Time> unneeded_since;
        std::string drift;  // in what the node is not as it would be made now; empty: in nothing

        bool operator==(const Use&) const = default;
    };
    enum class Permission {
        none,
        drain,              // the pods of its node are asked to leave
        leave_empty,        // no pod has to move: the node counts as drained
        begin_power_cycle,  // its machine is to be switched off and on again
        switch_off_and_on,  // of a power cycle that is under way
        switch_on,          // the same, but nothing more is switched off
    };

    // Of the claim's present machine; nullopt: nothing was reported yet.
    std::optional<Use> use_of(const NodeSmithClaim& claim) const;
    // Holds as long as the claim's disruption and power cycle have come no further.
    Permission permission_of(const NodeSmithClaim& claim) const;

    void report(const NodeSmithClaim& claim, Use use);
    void permit(const NodeSmithClaim& claim, Permission permission);
    void forget(const api::ObjectKey& claim) { by_claim_.erase(claim); }
    // `told` is called with the key of a claim when its use is news, and for each permission.
    void on_report(std::function<void(const api::ObjectKey& claim)> told) { told_ = std::move(told); }

private:
    struct Entry {
        std::string uid;
        std::int32_t attempt = 0;
        std::optional<Use> use;
        Permission permission = Permission::none;
        std::string stage;  // for which it is
    };
    const Entry* entry_of(const NodeSmithClaim& claim) const;
    Entry& make_entry(const NodeSmithClaim& claim);

    std::map<api::ObjectKey, Entry> by_claim_;
    std::function<void(const api::ObjectKey&)> told_;
};

}  // namespace controllers

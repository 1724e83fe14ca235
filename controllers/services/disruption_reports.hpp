// Passes the disruption controller's findings and permissions to the claims' reconciler. That one alone
// writes claims' status, drains nodes and switches machines. The data is in memory only, because a new
// process reaches the same results. It serves one thread.
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
        std::string drift;  // how the node differs from what would be made now; empty: it does not

        bool operator==(const Use&) const = default;
    };
    enum class Permission {
        none,
        drain,              // the pods of its node may be evicted
        leave_empty,        // no pod has to move: the node counts as drained
        begin_power_cycle,  // its machine may be switched off and on again
        switch_off_and_on,  // for a running power cycle
        switch_on,          // the same, but nothing more is switched off
    };

    // Returns the use of the claim's present machine; nullopt: nothing was reported yet.
    std::optional<Use> use_of(const NodeSmithClaim& claim) const;
    // Returns a permission that is valid until the claim's disruption or power cycle proceeds.
    Permission permission_of(const NodeSmithClaim& claim) const;

    void report(const NodeSmithClaim& claim, Use use);
    void permit(const NodeSmithClaim& claim, Permission permission);
    void forget(const api::ObjectKey& claim) { by_claim_.erase(claim); }
    // Sets a callback that gets a claim's key when its use changes, and for each permission.
    void on_report(std::function<void(const api::ObjectKey& claim)> told) { told_ = std::move(told); }

private:
    struct Entry {
        std::string uid;
        std::int32_t attempt = 0;
        std::optional<Use> use;
        Permission permission = Permission::none;
        std::string stage;  // stage that it applies to
    };
    const Entry* entry_of(const NodeSmithClaim& claim) const;
    Entry& make_entry(const NodeSmithClaim& claim);

    std::map<api::ObjectKey, Entry> by_claim_;
    std::function<void(const api::ObjectKey&)> told_;
};

}  // namespace controllers

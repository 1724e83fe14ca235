// Lets one claim at a time per provider choose its host and ID. The next claim knows that choice
// even before any status records it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <map>
#include <set>
#include <vector>

#include "base/condition_variable.hpp"
#include "controllers/claim/decide/observation.hpp"
#include "providers/launch.hpp"

namespace controllers::claim {

class PlacementTurns {
public:
    PlacementTurns(asio::any_io_executor executor, const Informers& informers);

    // Turn prevents other placements of this provider's machines while it lives.
    class Turn {
    public:
        Turn(PlacementTurns& owner, kube::ObjectKey provider)
            : owner_(owner), provider_(std::move(provider)) {}
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        ~Turn();

    private:
        PlacementTurns& owner_;
        kube::ObjectKey provider_;
    };
    asio::awaitable<std::unique_ptr<Turn>> enter(kube::ObjectKey provider);

    // Remembers the placement until the store shows it or forget() is called.
    void add(const NodeSmithClaim& claim, const providers::MachineRecord& placed);
    void forget(const kube::ObjectKey& claim) { placed_.erase(claim); }

    // Returns the placements of all other claims of the provider, sorted by claim name.
    std::vector<providers::CapacityReservation> others(const NodeSmithClaim& claim) const;
    // Returns the machine IDs of other providers' claims that are on the same cluster, as far as known.
    std::vector<std::string> ids_of_others(const NodeSmithClaim& claim) const;
    // Returns where the provider's last machine was placed, for round robin. After a restart it is the
    // youngest claim's host, otherwise the one that the pool has recorded.
    std::string last_host(const NodeSmithClaim& claim) const;

private:
    bool is_at_rest(const NodeSmithClaim& claim) const;
    // Placed holds the decision: the claim's status may not even name the provider yet.
    struct Placed {
        kube::ObjectKey provider;
        providers::MachineRecord record;
    };

    const Informers& informers_;
    base::ConditionVariable left_;
    std::set<kube::ObjectKey> busy_;  // providers
    std::map<kube::ObjectKey, Placed> placed_;
    struct LastHost {
        std::string provider_uid;  // another provider with this name starts anew
        std::string host;
    };
    std::string uid_of(const kube::ObjectKey& provider) const;
    std::string cluster_of(const kube::ObjectKey& provider) const;
    std::map<kube::ObjectKey, LastHost> last_hosts_;  // by provider
};

}  // namespace controllers::claim

// Choosing hosts and IDs one claim at a time per provider: what one claim has chosen is known to the next,
// also before it stands in any status.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <map>
#include <set>
#include <vector>

#include "base/event.hpp"
#include "controllers/claim/decide/observation.hpp"
#include "providers/launch.hpp"

namespace controllers::claim {

class PlacementTurns {
public:
    PlacementTurns(asio::any_io_executor executor, const Informers& informers);

    // While it lives, nobody else places a machine of this provider.
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

    // Known from now on, until the store shows it (or forget).
    void add(const NodeSmithClaim& claim, const providers::MachineRecord& placed);
    void forget(const kube::ObjectKey& claim) { placed_.erase(claim); }

    // Of all other claims of the provider, in name order.
    std::vector<providers::Reservation> others(const NodeSmithClaim& claim) const;
    // Machine IDs of claims of other providers that are on the same cluster, as far as that is known.
    std::vector<std::string> ids_of_others(const NodeSmithClaim& claim) const;
    // Where the last machine of the provider was placed: for round robin. After a restart that of the
    // youngest claim, and without any what the pool has recorded.
    std::string last_host(const NodeSmithClaim& claim) const;

private:
    bool is_at_rest(const NodeSmithClaim& claim) const;
    // As decided: the claim's status may not even name the provider yet.
    struct Placed {
        kube::ObjectKey provider;
        providers::MachineRecord record;
    };

    const Informers& informers_;
    base::Event left_;
    std::set<kube::ObjectKey> busy_;  // providers
    std::map<kube::ObjectKey, Placed> placed_;
    struct LastHost {
        std::string provider_uid;  // another provider of the name begins anew
        std::string host;
    };
    std::string uid_of(const kube::ObjectKey& provider) const;
    std::string cluster_of(const kube::ObjectKey& provider) const;
    std::map<kube::ObjectKey, LastHost> last_hosts_;  // by provider
};

}  // namespace controllers::claim

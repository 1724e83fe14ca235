// Follows machines that run and have not joined yet. It records their progress in status.boot, so that a
// person can find out why one never joined.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>

#include "controllers/claim/act/actor.hpp"
#include "controllers/claim/decide/observation.hpp"
#include "providers/capabilities.hpp"

namespace controllers::claim {

class BootWatch : Actor {
public:
    explicit BootWatch(const Means& means) : Actor(means) {}

    // Returns when to query the provider next; nullopt: not before something changes. It is queried once a
    // minute, and once more before the machine is given up.
    std::optional<api::Time> next_look(const Observation& observation) const;
    // Queries the provider, unless enough other queries are running. with_sights() then includes the result.
    asio::awaitable<void> look(Observation observation);
    // Returns the observation with the current results in status.boot.
    Observation with_sights(Observation observation);
    void forget(const kube::ObjectKey& claim) { known_.erase(claim); }

private:
    struct Known {
        api::Time looked;
        std::optional<providers::GuestSight> sight;
    };
    asio::awaitable<std::optional<providers::GuestSight>> ask(Observation observation);

    std::map<kube::ObjectKey, Known> known_;
    int looks_under_way_ = 0;
};

}  // namespace controllers::claim

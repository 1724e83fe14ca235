// Follows machines that run and have not joined yet: what they were seen to do stands in status.boot, so that
// somebody can tell why one never joined.
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

    // When the provider is to be asked next; nullopt: not before something changes. Once a minute, and once
    // more before the machine is given up.
    std::optional<api::Time> next_look(const Observation& observation) const;
    // Asks it, unless enough others are being asked. What is seen shows in with_sights().
    asio::awaitable<void> look(Observation observation);
    // With what is known by now in status.boot.
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

// Leader election by a coordination.k8s.io/v1 Lease, with client-go's protocol and defaults.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/interface.hpp"
#include "base/random.hpp"
#include "kube/client.hpp"

namespace kube {

struct LeaderElectionOptions {
    ObjectKey lease;       // namespace and name of the Lease
    std::string identity;  // unique for each process
    base::Duration lease_duration = std::chrono::seconds{15};
    base::Duration renew_deadline = std::chrono::seconds{10};
    base::Duration retry_period = std::chrono::seconds{2};
    // Called when the Lease has an older version than before: the API server's data was restored from a
    // backup. Must not throw.
    std::function<void()> on_restore;
};

class LeaderElector : public base::Interface {
public:
    // Returns when this process leads.
    virtual asio::awaitable<void> acquire() = 0;
    // Renews; returns when the lease could not be renewed within renew_deadline (this process must stop
    // leading).
    virtual asio::awaitable<void> hold() = 0;
    // Gives the lease up for good, so that another process can lead at once; hold() then waits to be
    // cancelled. Call when nothing that needs the lease runs any more.
    virtual asio::awaitable<void> release() = 0;
    virtual bool is_leader() const = 0;
    // True if the lease is surely ours for another `duration`: the fence in front of every outside mutation.
    virtual bool lease_outlives(base::Duration duration) const = 0;
};

std::unique_ptr<LeaderElector> make_leader_elector(Client& client, base::Clock& clock, base::Random& random,
                                                   LeaderElectionOptions options);

}  // namespace kube

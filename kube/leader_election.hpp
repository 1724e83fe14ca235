// Leader election with a coordination.k8s.io/v1 Lease, using client-go's protocol and defaults.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/interface.hpp"
#include "base/random.hpp"
#include "kube/client.hpp"

namespace kube {

// LeaderEpochs distinguishes the leaders of one Lease from the leaders of a copy of it. Each process that
// leads draws a random epoch.
struct LeaderEpochs {
    std::string own;                 // of this process
    std::vector<std::string> chain;  // of all leaders of the Lease with its own, the newest last; at most 64
};

struct LeaderElectionOptions {
    ObjectKey lease;       // namespace and name of the Lease
    std::string identity;  // unique for each process
    base::Duration lease_duration = std::chrono::seconds{15};
    base::Duration renew_deadline = std::chrono::seconds{10};
    base::Duration retry_period = std::chrono::seconds{2};
    // Called when the Lease has an older version than before, i.e. the API server's data were restored from a
    // backup. Must not throw.
    std::function<void()> on_restore;
};

class LeaderElector : public base::Interface {
public:
    // Returns when this process leads.
    virtual asio::awaitable<void> acquire() = 0;
    // Renews the lease. Returns when it could not be renewed within renew_deadline; this process must then
    // stop leading.
    virtual asio::awaitable<void> hold() = 0;
    // Releases the lease for good, so that another process can lead immediately; hold() then waits for its
    // cancellation. Call it after all work that needs the lease.
    virtual asio::awaitable<void> release() = 0;
    virtual bool is_leader() const = 0;
    // Returns true if the lease is surely ours for another `duration`. This is the fence in front of every
    // external mutation.
    virtual bool lease_outlives(base::Duration duration) const = 0;
    // Returns the epochs that the Lease records. They are complete while this process leads.
    virtual const LeaderEpochs& epochs() const = 0;
};

std::unique_ptr<LeaderElector> make_leader_elector(Client& client, base::Clock& clock, base::Random& random,
                                                   LeaderElectionOptions options);

}  // namespace kube

// Everything but the operator: clock, API server, the cluster's controllers, machines, network. Each seed has
// one world. Its parts are public, because others act on them.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "test/simulation/authorization.hpp"
#include "test/simulation/bmcs.hpp"
#include "test/simulation/cluster/kubelets.hpp"
#include "test/simulation/cluster/scheduler.hpp"
#include "test/simulation/cluster/view.hpp"
#include "test/simulation/cluster/workloads.hpp"
#include "test/simulation/faults.hpp"
#include "test/simulation/guests/guests.hpp"
#include "test/simulation/happenings.hpp"
#include "test/simulation/host_apis.hpp"
#include "test/simulation/interference.hpp"
#include "test/simulation/machines.hpp"
#include "test/simulation/network/network.hpp"
#include "test/simulation/scenario.hpp"
#include "test/simulation/trace.hpp"
#include "test/support/virtual_clock.hpp"

namespace simulation {

// Returns the options of an API server that knows our kinds.
fake::ApiServer::Options server_options();

class World {
public:
    World(std::uint64_t seed, Scenario scenario, Recording recording);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    void run_for(base::Duration duration);
    base::TimePoint now() const { return clock.now(); }
    // Returns a separate stream of random numbers for each purpose, so that purposes do not disturb each
    // other.
    std::unique_ptr<base::Random> random_for(const std::string& purpose) const;
    // Called after each request that Proxmox answered, or after each request of an operator to the API
    // server.
    using ProxmoxObserver = std::function<void(const proxmox::RequestRecord&)>;
    using ApiObserver =
        std::function<void(const Process&, const base::HttpRequest&, const base::HttpResponse&)>;
    void observe(ProxmoxObserver observer) { proxmox_observers_.push_back(std::move(observer)); }
    void observe(ApiObserver observer) { api_observers_.push_back(std::move(observer)); }

    // Notes that an outsider removes the Node or the machine of the claim.
    void note_taking(const NodeSmithClaim& claim);

    // Reports whether a condition of a claim or of a provider names the VM. Conditions of deleted providers
    // count with their last text.
    bool is_told_of(int vmid) const;
    // Reports whether a condition of a deleted provider contained the text.
    bool was_reported(const std::string& what) const;

    // Returns how often claims or the states of machines changed, or Proxmox was asked for a change.
    std::uint64_t changes() const { return changes_; }

    // Ends everything that runs in the background. Call it before destruction.
    void shut_down();

    boost::asio::io_context context{1};  // must be first, because everything else refers to it
    std::uint64_t seed;
    Scenario scenario;
    fake::VirtualClock clock;
    Trace trace;
    FaultPlan faults;
    Happenings happenings;
    bool is_demolished = false;  // all objects of the managed namespace were deleted for good
    Interference interference;
    fake::ApiServer server;
    ClusterSnapshot view;
    Scheduler scheduler;
    Kubelets kubelets;
    Workloads workloads;
    Certificates certificates;
    Guests guests;
    std::unique_ptr<base::Random> proxmox_random;
    proxmox::Simulator proxmox;
    std::unique_ptr<base::Random> other_proxmox_random;
    std::unique_ptr<proxmox::Simulator> other_proxmox;  // another cluster; null: the seed has none
    HostApis host_apis;
    ProxmoxFaults proxmox_faults;
    Administrators administrators;
    Bmcs bmcs;
    Network network;
    Authorization authorization;

private:
    void populate();
    void draw_endpoints(base::Random& random);
    void draw_nominations(base::Random& random);
    void draw_pace(base::Random& random);
    void draw_tolerations(base::Random& random);
    void draw_address_networks(base::Random& random);

    std::uint64_t changes_ = 0;
    std::string last_reports_;  // last conditions of providers while everything was deleted
    std::vector<ProxmoxObserver> proxmox_observers_;
    std::vector<ApiObserver> api_observers_;
};

}  // namespace simulation

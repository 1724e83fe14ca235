// Everything but the operator: clock, API server, the cluster's controllers, machines, network. One seed, one
// world. Parts are public: this is a stage for others to act on.
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

// Of an API server that knows our kinds.
fake::ApiServer::Options server_options();

class World {
public:
    World(std::uint64_t seed, Scenario scenario, Recording recording);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    void run_for(base::Duration duration);
    base::TimePoint now() const { return clock.now(); }
    // A stream of random numbers of its own for each purpose, so that one does not disturb the others.
    std::unique_ptr<base::Random> random_for(const std::string& purpose) const;
    // Called after each request that Proxmox answered, and after each request of an operator to the API
    // server.
    using ProxmoxObserver = std::function<void(const proxmox::RequestRecord&)>;
    using ApiObserver =
        std::function<void(const Process&, const base::HttpRequest&, const base::HttpResponse&)>;
    void observe(ProxmoxObserver observer) { proxmox_observers_.push_back(std::move(observer)); }
    void observe(ApiObserver observer) { api_observers_.push_back(std::move(observer)); }

    // Notes that an outsider takes away the Node or the machine of the claim.
    void note_taking(const NodeSmithClaim& claim);

    // A condition of a claim or of a provider names the VM, or did when the provider was gone.
    bool is_told_of(int vmid) const;
    // A condition of a provider that was deleted contained it.
    bool was_reported(const std::string& what) const;

    // How often claims changed, machines changed their state, and Proxmox was asked to change something.
    std::uint64_t changes() const { return changes_; }

    // Ends everything that still runs in the background; call before destruction.
    void shut_down();

    boost::asio::io_context context{1};  // first: everything else refers to it
    std::uint64_t seed;
    Scenario scenario;
    fake::VirtualClock clock;
    Trace trace;
    FaultPlan faults;
    Happenings happenings;
    bool is_demolished = false;  // everything of the managed namespace was deleted, for good
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

    std::uint64_t changes_ = 0;
    std::string last_reports_;  // what providers said while everything was deleted, and before they were gone
    std::vector<ProxmoxObserver> proxmox_observers_;
    std::vector<ApiObserver> api_observers_;
};

}  // namespace simulation

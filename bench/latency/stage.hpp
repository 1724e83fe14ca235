// The whole operator in real time with an API server and a Proxmox cluster in memory, all on one thread. The
// cluster already has running pods.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "operator/operator.hpp"
#include "test/simulation/scenario.hpp"
#include "test/simulators/proxmox/core/simulator.hpp"
#include "test/support/fake_api_server.hpp"

namespace bench {

namespace asio = boost::asio;
using simulation::NodeSmithClaim;

class Stage {
public:
    // `pods` run on nodes with 50 pods each, which have no free room.
    explicit Stage(int pods);
    ~Stage();
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    base::TimePoint now() const { return clock_->now(); }
    // Returns the time that the operator intentionally waits for more demand.
    base::Duration batching_window() const;
    // Throws std::runtime_error if it takes longer than ten minutes.
    void run_until(const std::string& what, const std::function<bool()>& holds);
    void run_for(base::Duration duration);

    // Adds a pod that the scheduler found no node for. Returns its UID.
    std::string add_unschedulable_pod(const std::string& name, const std::string& cpu = "3");
    // Makes the pod run on that node.
    void bind_pod(const std::string& name, const std::string& node);
    // Adds a Node for the claim's machine; it is not Ready yet.
    void join(const NodeSmithClaim& claim);
    void make_ready(const std::string& node);

    // Returns the claim that was created last since forget(), in its current state; nullopt: none.
    std::optional<NodeSmithClaim> claim() const;
    std::optional<base::TimePoint> claim_created() const { return claim_created_; }
    std::optional<base::TimePoint> machine_requested() const { return machine_requested_; }
    std::optional<base::TimePoint> claim_ready() const { return claim_ready_; }
    // Returns the creation time of the first claim for each pod, by UID.
    const std::map<std::string, base::TimePoint>& launched() const { return launched_; }
    void forget();

private:
    void put_configuration(const simulation::Scenario& scenario);
    void put_pods(int pods);
    void watch();

    asio::io_context loop_{1};
    std::unique_ptr<base::Clock> clock_;
    std::unique_ptr<base::Random> random_;
    simulation::Scenario scenario_;
    fake::ApiServer server_;
    proxmox_simulator::Simulator proxmox_;
    std::unique_ptr<kubenodesmith::Operator> operator_;
    bool ended_ = false;
    std::string claim_;
    std::optional<base::TimePoint> claim_created_;
    std::optional<base::TimePoint> machine_requested_;
    std::optional<base::TimePoint> claim_ready_;
    std::map<std::string, base::TimePoint> launched_;
};

}  // namespace bench

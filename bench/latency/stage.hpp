// The whole operator in real time beside an API server and a Proxmox cluster in memory, all on one thread,
// with a cluster of running pods around it.
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
    // `pods` run on as many nodes as they need, 50 on each, and leave no room there.
    explicit Stage(int pods);
    ~Stage();
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    base::TimePoint now() const { return clock_->now(); }
    // How long the operator waits for more demand, on purpose.
    base::Duration batching_window() const;
    // Throws std::runtime_error if it takes longer than ten minutes.
    void run_until(const std::string& what, const std::function<bool()>& holds);
    void run_for(base::Duration duration);

    // A pod that no node has room for, as the scheduler would say. Returns its UID.
    std::string add_unschedulable_pod(const std::string& name, const std::string& cpu = "3");
    // The pod runs on that node from now on.
    void bind_pod(const std::string& name, const std::string& node);
    // The machine of the claim joins as a Node that is not Ready yet.
    void join(const NodeSmithClaim& claim);
    void make_ready(const std::string& node);

    // The claim that was created last, as it is now; nullopt: none since the last call of forget().
    std::optional<NodeSmithClaim> claim() const;
    std::optional<base::TimePoint> claim_created() const { return claim_created_; }
    std::optional<base::TimePoint> machine_requested() const { return machine_requested_; }
    std::optional<base::TimePoint> claim_ready() const { return claim_ready_; }
    // When the first claim for each pod was created, by UID.
    const std::map<std::string, base::TimePoint>& launched() const { return bought_; }
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
    std::map<std::string, base::TimePoint> bought_;
};

}  // namespace bench

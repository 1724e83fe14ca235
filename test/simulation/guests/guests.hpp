// What happens inside the simulated machines: a guest boots, reads its cloud-init CD-ROM or, without one,
// what its image brings, and joins the cluster if it can prove itself.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test/simulation/cluster/kubelets.hpp"
#include "test/simulation/cluster/view.hpp"
#include "test/simulation/faults.hpp"
#include "test/simulation/guests/certificates.hpp"
#include "test/simulators/proxmox/core/hooks.hpp"

namespace simulation {

namespace proxmox = proxmox_simulator;

// Whether the machine's image has credentials of its own; its Node is named by DHCP.
bool joins_by_itself(const api::Node& node);

// Of a machine; 0: it has none.
std::int64_t largest_disk_mib(const proxmox::Config& config);

enum class PowerEvent { started, stopped, destroyed };

class Guests final : public proxmox::MachineHooks {
public:
    Guests(base::Clock& clock, ClusterSnapshot& view, Kubelets& kubelets, Certificates& certificates,
           FaultPlan& faults, Trace& trace);

    void on_machine_started(const proxmox::MachineView& machine) override;
    void on_machine_stopped(const proxmox::MachineView& machine) override;
    void on_machine_destroyed(const proxmox::MachineView& machine) override;

    // Called at once, before the guest notices.
    using Listener = std::function<void(PowerEvent, const proxmox::MachineView&)>;
    void subscribe(Listener listener) { listeners_.push_back(std::move(listener)); }

    // How the machines of others behave: they boot and never join.
    void ignore(int vmid) { strangers_.insert(vmid); }
    // Whoever gets that ID next is another machine.
    void heed(int vmid) { strangers_.erase(vmid); }
    const std::set<int>& strangers() const { return strangers_; }
    // The static addresses of those that run, by system UUID.
    const std::map<std::string, std::set<std::string>>& addresses() const { return addresses_; }

private:
    struct Seed {
        Registration registration;
        std::string
            token_id;  // for whose certificate the operator has to be asked; empty: the cluster approves
    };

    void tell(PowerEvent event, const proxmox::MachineView& machine) const;
    void join(const proxmox::MachineView& machine);
    void register_node(const proxmox::MachineView& machine, const Registration& registration);
    // Throws std::runtime_error or the like with what is wrong with the machine's data.
    Seed read_seed(const proxmox::MachineView& machine) const;
    // Before anything else it has to have a network.
    void configure_network(const proxmox::MachineView& machine);
    Registration own_registration(const proxmox::MachineView& machine) const;
    // Whether the operator has to approve the certificate.
    bool prove(const std::string& token) const;

    base::Clock& clock_;
    ClusterSnapshot& view_;
    Kubelets& kubelets_;
    Certificates& certificates_;
    FaultPlan& faults_;
    Trace& trace_;
    std::vector<Listener> listeners_;
    std::set<int> strangers_;
    std::map<std::string, std::set<std::string>> addresses_;
    std::map<std::string, std::unique_ptr<base::Alarm>> booting_;  // by system UUID
};

}  // namespace simulation

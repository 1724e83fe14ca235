// Models the inside of the simulated machines. A guest boots and reads its cloud-init CD-ROM or, without one,
// the settings of its image. It joins the cluster if it can prove its identity.
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

// Reports whether the machine's image has its own credentials; DHCP then names its Node.
bool joins_by_itself(const api::Node& node);

// Returns the size of the machine's largest disk; 0 if it has none.
std::int64_t largest_disk_mib(const proxmox::Config& config);

enum class PowerEvent { started, stopped, destroyed };

class Guests final : public proxmox::MachineHooks {
public:
    Guests(base::Clock& clock, ClusterSnapshot& view, Kubelets& kubelets, Certificates& certificates,
           FaultPlan& faults, Trace& trace);

    void on_machine_started(const proxmox::MachineView& machine) override;
    void on_machine_stopped(const proxmox::MachineView& machine) override;
    void on_machine_destroyed(const proxmox::MachineView& machine) override;

    // Called immediately, before the guest notices.
    using Listener = std::function<void(PowerEvent, const proxmox::MachineView&)>;
    void subscribe(Listener listener) { listeners_.push_back(std::move(listener)); }

    // Treats the machine as one of others: it boots and never joins.
    void ignore(int vmid) { strangers_.insert(vmid); }
    // Undoes ignore(), because the next machine with this ID is another one.
    void heed(int vmid) { strangers_.erase(vmid); }
    const std::set<int>& strangers() const { return strangers_; }
    // Returns the static addresses of running machines, by system UUID.
    const std::map<std::string, std::set<std::string>>& addresses() const { return addresses_; }

private:
    struct Seed {
        Registration registration;
        std::string token_id;  // the operator has to approve the certificate of this token; empty: the
                               // cluster approves
    };

    void tell(PowerEvent event, const proxmox::MachineView& machine) const;
    void join(const proxmox::MachineView& machine);
    void register_node(const proxmox::MachineView& machine, const Registration& registration);
    // Throws std::runtime_error or the like if the machine's data is wrong, and says why.
    Seed read_seed(const proxmox::MachineView& machine) const;
    // Gives the machine its network, which it needs before anything else.
    void configure_network(const proxmox::MachineView& machine);
    Registration own_registration(const proxmox::MachineView& machine) const;
    // Reports whether the operator has to approve the certificate.
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

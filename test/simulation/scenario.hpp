// Describes a seed's world at the start: hosts, providers, pools, workloads. It holds only values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "base/random.hpp"
#include "test/simulation/bmcs.hpp"
#include "test/simulation/cluster/kubelets.hpp"
#include "test/simulation/cluster/workloads.hpp"
#include "test/simulators/proxmox/core/world.hpp"

namespace simulation {

class Dice;

// The namespace of our kinds.
inline constexpr const char* kNodesNamespace = "nodes";

// Variety says how much a world varies. Plain worlds have similar hosts and simple workloads. The others have
// sites, manifests, charts and kubelets as users have them.
enum class Variety { plain, of_users };

struct Scenario {
    Variety variety = Variety::plain;
    proxmox_simulator::World proxmox;
    api::Secret credentials;
    std::vector<NodeSmithProvider> providers;  // the first one is of type proxmox
    api::Secret bmc_credentials;
    std::vector<BareMetal> bare_metal;
    std::vector<NodeSmithPool> pools;
    NodeSmithControlPlane control_plane;
    std::vector<Deployment> deployments;
    std::vector<api::PodDisruptionBudget> budgets;
    std::vector<api::DaemonSet> daemon_sets;
    KubeletHabits kubelets;
    bool hosts_are_reachable = true;  // the API of each host, and not only that of the endpoint
    bool leader_election = false;
    base::Duration lease_duration = std::chrono::seconds{15};
    double changes_per_hour = 12;  // rate of changes to workloads
    bool keeps_in_peace = true;    // pools still keep machines that never joined after the trouble has ended
};

// Share of the seeds with bare metal.
inline constexpr double kRacks = 0.2;
Scenario draw_scenario(base::Random& random, Variety variety, double racks = kRacks);

// ---- parts, for scenarios written by hand
NodeSmithProvider a_provider(const std::string& name, std::int64_t first_vmid);
NodeSmithPool a_pool(const std::string& name, const std::string& provider);
// Returns a network with 199 static addresses of each family, which differ for each number.
api::v1alpha1::MachineNetwork a_dual_stack_network(std::int64_t number);
Deployment a_deployment(const std::string& name, std::int64_t replicas, const std::string& cpu,
                        const std::string& memory);
// Draws deployments with the requests of common charts, budgets and DaemonSets, for the pools of the
// scenario.
void draw_apps(Dice& dice, Scenario& scenario);
// Takes providers, pools and control plane from README, user guide or samples, and draws the hosts.
void draw_manifests(Dice& dice, Scenario& scenario);
// Adds a provider of type redfish with hosts that have habits and troubles. Returns a pool on it.
NodeSmithPool add_rack(Scenario& scenario, Dice& dice);
// Returns a scenario with one provider, one pool, one deployment of two pods, and no trouble.
Scenario plain_scenario();
// Returns a plain scenario with leader election. Each of the two pods of the deployment gets a machine, which
// is removed soon after it is empty.
Scenario two_machine_scenario(const std::string& deployment);

}  // namespace simulation

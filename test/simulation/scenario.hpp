// What a seed's world looks like at the start: hosts, providers, pools, workloads. Values only.
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

// Namespace of our kinds.
inline constexpr const char* kNodesNamespace = "nodes";

// How much a world varies: hosts that are much alike and plain workloads, or sites, manifests, charts and
// kubelets as users have them.
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
    bool hosts_are_reachable = true;  // each one's own API, and not only that of the endpoint
    bool leader_election = false;
    base::Duration lease_duration = std::chrono::seconds{15};
    double changes_per_hour = 12;  // of workloads
    bool keeps_in_peace = true;    // pools go on keeping machines that never joined when the trouble is over
};

// In so many seeds there is bare metal.
inline constexpr double kRacks = 0.2;
Scenario draw_scenario(base::Random& random, Variety variety, double racks = kRacks);

// ---- parts, for scenarios written by hand
NodeSmithProvider a_provider(const std::string& name, std::int64_t first_vmid);
NodeSmithPool a_pool(const std::string& name, const std::string& provider);
// 199 static addresses of each family; other ones for another number.
api::v1alpha1::MachineNetwork a_dual_stack_network(std::int64_t number);
Deployment a_deployment(const std::string& name, std::int64_t replicas, const std::string& cpu,
                        const std::string& memory);
// Deployments with what charts ask for, budgets and DaemonSets, for the pools of the scenario.
void draw_apps(Dice& dice, Scenario& scenario);
// Providers, pools and control plane of README, user guide or samples, on hosts that are drawn.
void draw_manifests(Dice& dice, Scenario& scenario);
// Adds a provider of type redfish with hosts that have habits and troubles. Returns a pool on it.
NodeSmithPool add_rack(Scenario& scenario, Dice& dice);
// One provider, one pool, one deployment of two pods, no trouble.
Scenario plain_scenario();

}  // namespace simulation

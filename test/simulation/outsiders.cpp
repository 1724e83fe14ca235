#include "test/simulation/outsiders.hpp"

#include "test/simulation/claim_refuser.hpp"
#include "test/simulation/demolition.hpp"
#include "test/simulation/drills.hpp"
#include "test/simulation/endpoint_mover.hpp"
#include "test/simulation/eviction_webhook.hpp"
#include "test/simulation/extreme_numbers.hpp"
#include "test/simulation/fleet_destroyer.hpp"
#include "test/simulation/hasty_users.hpp"
#include "test/simulation/hostile_kubelets.hpp"
#include "test/simulation/hostile_tenants.hpp"
#include "test/simulation/isolation.hpp"
#include "test/simulation/label_writers.hpp"
#include "test/simulation/local_data.hpp"
#include "test/simulation/machine_destroyer.hpp"
#include "test/simulation/node_deleter.hpp"
#include "test/simulation/odd_bmcs.hpp"
#include "test/simulation/odd_objects.hpp"
#include "test/simulation/passing_guests.hpp"
#include "test/simulation/silent_statistics.hpp"
#include "test/simulation/status_webhook.hpp"
#include "test/simulation/storage_fillers.hpp"
#include "test/simulation/taint_keeper.hpp"
#include "test/simulation/volume_keepers.hpp"

namespace simulation {

std::vector<std::unique_ptr<Outsider>> all_outsiders(World& world, Operators& operators) {
    static_cast<void>(operators);
    std::vector<std::unique_ptr<Outsider>> all;
    all.push_back(make_endpoint_mover(world));
    all.push_back(make_fleet_destroyer(world));
    all.push_back(make_demolition(world));
    all.push_back(make_extreme_numbers(world));
    all.push_back(std::make_unique<LocalData>(world));
    all.push_back(std::make_unique<NodeDeleter>(world));
    all.push_back(std::make_unique<MachineDestroyer>(world));
    all.push_back(std::make_unique<TaintKeeper>(world));
    all.push_back(std::make_unique<LabelWriters>(world));
    all.push_back(std::make_unique<HastyUsers>(world));
    all.push_back(volume_keepers(world));
    all.push_back(make_claim_refuser(world));
    all.push_back(std::make_unique<EvictionWebhook>(world));
    all.push_back(std::make_unique<StatusWebhook>(world));
    all.push_back(std::make_unique<OddObjects>(world));
    all.push_back(storage_fillers(world));
    all.push_back(make_hostile_kubelets(world));
    all.push_back(make_hostile_tenants(world));
    all.push_back(passing_guests(world));
    all.push_back(isolation(world));
    all.push_back(silent_statistics(world));
    all.push_back(make_odd_bmcs(world));
    all.push_back(make_drills(world));
    return all;
}

}  // namespace simulation

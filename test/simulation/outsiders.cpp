#include "test/simulation/outsiders.hpp"

#include "test/simulation/endpoint_mover.hpp"
#include "test/simulation/fleet_destroyer.hpp"
#include "test/simulation/hasty_users.hpp"
#include "test/simulation/label_writers.hpp"

namespace simulation {

std::vector<std::unique_ptr<Outsider>> all_outsiders(World& world, Operators& operators) {
    static_cast<void>(operators);
    std::vector<std::unique_ptr<Outsider>> all;
    all.push_back(make_endpoint_mover(world));
    all.push_back(make_fleet_destroyer(world));
    all.push_back(std::make_unique<LabelWriters>(world));
    all.push_back(std::make_unique<HastyUsers>(world));
    return all;
}

}  // namespace simulation

#include "test/simulation/outsiders.hpp"

#include "test/simulation/local_data.hpp"

namespace simulation {

std::vector<std::unique_ptr<Outsider>> all_outsiders(World& world, Operators& operators) {
    static_cast<void>(operators);
    std::vector<std::unique_ptr<Outsider>> all;
    all.push_back(std::make_unique<LocalData>(world));
    return all;
}

}  // namespace simulation

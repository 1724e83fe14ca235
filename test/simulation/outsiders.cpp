#include "test/simulation/outsiders.hpp"

#include "test/simulation/machine_destroyer.hpp"
#include "test/simulation/node_deleter.hpp"
#include "test/simulation/taint_keeper.hpp"

namespace simulation {

std::vector<std::unique_ptr<Outsider>> all_outsiders(World& world, Operators& operators) {
    static_cast<void>(operators);
    std::vector<std::unique_ptr<Outsider>> all;
    all.push_back(std::make_unique<NodeDeleter>(world));
    all.push_back(std::make_unique<MachineDestroyer>(world));
    all.push_back(std::make_unique<TaintKeeper>(world));
    return all;
}

}  // namespace simulation

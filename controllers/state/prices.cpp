#include "controllers/state/prices.hpp"

namespace controllers {

scheduling::Prices prices_of(const api::v1alpha1::NodeSmithPool& pool) {
    scheduling::Prices prices;
    const auto& stated = pool.spec.machineTemplate.price;
    if (!stated) return prices;
    if (stated->cpuCore) prices.cpu_core = stated->cpuCore->as_double();
    if (stated->memoryGiB) prices.memory_gib = stated->memoryGiB->as_double();
    if (stated->machine) prices.machine = stated->machine->as_double();
    const bool is_free = prices.of(1, 1) + prices.machine.value_or(0) <= 0;
    return is_free ? scheduling::Prices() : prices;
}

}  // namespace controllers

// People of a namespace that the operator does not manage. They write any object of our kinds there,
// including status, finalizers and our names, and Secrets. The operator must answer with no more than a
// condition.
#pragma once

#include <memory>

#include "test/simulation/world.hpp"

namespace simulation {

// Reports whether the world has tenants. In two thirds of the seeds there are none, and the operator manages
// all namespaces.
bool has_tenants(const World& world);

class Tenants {
public:
    explicit Tenants(World& world);

    void begin();
    // Ends their actions; the objects that they made remain.
    void make_peace();

private:
    void arm();
    void act();
    void make_provider();
    void make_pool();
    void make_control_plane();
    void make_claim();
    void make_host();
    void remove_one();
    template <api::Kind T>
    void write(T object);

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_;
    int made_ = 0;
};

}  // namespace simulation

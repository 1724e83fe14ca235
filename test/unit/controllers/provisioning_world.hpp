// Pools and provisioning, running in a cluster in memory.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "controllers/pool_reconciler.hpp"
#include "controllers/provisioning/provisioning_reconciler.hpp"
#include "test/unit/controllers/cluster.hpp"

namespace test {

struct ProvisioningWorld : Cluster {
    controllers::PoolReconciler pools{{informers, client, clock, events, metrics}, reservations};
    controllers::ProvisioningReconciler provisioning{
        {informers, client, clock, events, metrics}, reservations, [this] { return may_mutate; }};

    explicit ProvisioningWorld(objects::NodeSmithPool pool = objects::pool("small")) {
        put_basics();
        server.put(pool);
        add("pool", pools);
        add("provisioning", provisioning);
        start();
        run_for(std::chrono::seconds{2});
    }
    ~ProvisioningWorld() {
        stop();
        asio::co_spawn(context, provisioning.end(), asio::detached);
        run_for(std::chrono::milliseconds{10});
    }

    // Returns a pool with machines of 2 CPUs and 4 GiB.
    static objects::NodeSmithPool fixed_size_pool() {
        auto pool = objects::pool("small");
        pool.spec.machineTemplate.sizes = {{"medium", 2, 4096}};
        return pool;
    }
    void put_pending_pods(int count, const std::string& cpu = "1500m") {
        for (int i = 0; i < count; ++i) put_pending_pod("pod-" + std::to_string(i), cpu);
    }
};

}  // namespace test

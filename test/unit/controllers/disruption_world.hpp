// Pools whose nodes are removed, in a cluster in memory. A small scheduler and machines that join after their
// launch give every decision its consequences.
#pragma once

#include <map>

#include "controllers/claim/claim_reconciler.hpp"
#include "controllers/disruption/disruption_reconciler.hpp"
#include "controllers/pool_reconciler.hpp"
#include "controllers/provisioning/provisioning_reconciler.hpp"
#include "test/support/fake_provider.hpp"
#include "test/unit/controllers/cluster.hpp"

namespace test {

// DisruptionWorld has a pool "small" with nodes in service that are old enough for removal. The grace period
// is 1 min, and there is no other delay and no budget.
struct DisruptionWorld : Cluster {
    fake::Cloud cloud{
        clock,
        {std::chrono::milliseconds{100}, std::chrono::milliseconds{100}, std::chrono::milliseconds{100}}};
    fake::ProviderCalls* provider_calls = nullptr;  // must be set before the first call of a provider
    controllers::Drainer drainer{informers, client, clock};
    providers::ProviderEnvironment environment{context.get_executor(), clock, *random, metrics, {},
                                               [] { return true; }};
    controllers::ProviderInstances instances{
        informers, client, environment, [this](providers::ProviderConfig, providers::ProviderEnvironment&) {
            return fake::make_fake_provider(cloud, provider_calls);
        }};
    RecordedEvents claim_events;  // Events of the claims' reconciler
    controllers::claim::BootData boot_data{informers, client, clock, *random};
    controllers::MachineReports machine_reports;
    controllers::DisruptionReports disruption_reports;
    controllers::ClaimReconciler claim_reconciler{{informers, client, clock, claim_events, metrics},
                                                  instances,
                                                  reservations,
                                                  drainer,
                                                  boot_data,
                                                  machine_reports,
                                                  disruption_reports,
                                                  context.get_executor()};
    controllers::PoolReconciler pools{{informers, client, clock, events, metrics}, reservations};
    controllers::ProvisioningReconciler provisioning{
        {informers, client, clock, events, metrics}, reservations, [this] { return may_mutate; }};
    controllers::DisruptionReconciler disruption{{informers, client, clock, events, metrics},
                                                 drainer,
                                                 instances,
                                                 disruption_reports,
                                                 [this] { return provisioning.world_for_removals(); },
                                                 [this] { return may_mutate; }};
    std::map<std::string, std::string> replicas;  // CPUs of the pods that must run, by name
    bool machines_join = true;
    std::chrono::seconds longest_wait{0};  // longest time that a bound pod waited for its node

    enum class Launching { off, on };
    explicit DisruptionWorld(std::vector<std::string> nodes = {"a"}, Launching launching = Launching::off,
                             std::int64_t cores = 2);
    ~DisruptionWorld();

    void edit_pool(const std::function<void(objects::NodeSmithPool&)>& change);
    void made_from(const std::string& claim, const std::string& template_hash);
    std::optional<objects::NodeSmithClaim> find(const std::string& name);
    objects::NodeSmithClaim claim(const std::string& name) { return find(name).value(); }
    api::Node node(const std::string& name);
    bool is_leaving(const std::string& name);
    // Makes the claim join with a machine that runs.
    void join(const objects::NodeSmithClaim& claim);
    bool is_tainted(const std::string& name);
    // Returns status and reason of a condition, such as "True Empty".
    std::string condition(const std::string& name, const std::string& type);
    std::string disrupted(const std::string& name) { return condition(name, "Disrupted"); }

    api::Pod put_replica(const std::string& name, const std::string& cpu = "1");
    // Puts a pod that runs on the node. Its controller brings it back wherever there is room.
    void put_running_pod(const std::string& name, const std::string& node, const std::string& cpu = "1");
    // Sets from now on whether the Node is Ready, as its kubelet or the end of its kubelet does.
    void set_ready(const std::string& name, bool ready);
    fake::CloudMachine& machine(const std::string& name);
    // Keeps removed machines until let_go() is called.
    void hold_machines();
    void let_go() { cloud.next_remove.clear(); }
    std::string place_of(const std::string& pod);
    bool was_evicted(const std::string& pod) const { return evicted_.contains(pod); }

    // Lets time pass while scheduler, controllers and machines work.
    void live(std::chrono::seconds duration, std::chrono::seconds step = std::chrono::seconds{1});

private:
    void tick();
    void note_eviction(const base::HttpRequest& request);
    void schedule();
    void boot_machines();

    std::uint64_t seen_ = 0;
    std::uint64_t evictions_ = 0;
    std::map<std::string, std::uint64_t> evicted_;  // number of the pod's last eviction, by name of the pod
};

}  // namespace test

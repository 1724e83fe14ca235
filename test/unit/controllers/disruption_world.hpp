// Pools whose nodes leave, in a cluster in memory: with a small scheduler and with machines that join when
// they are bought, so that what is decided has its consequences.
#pragma once

#include <algorithm>
#include <map>

#include "controllers/claim/identity.hpp"
#include "controllers/disruption/reconciler.hpp"
#include "controllers/disruption/state.hpp"
#include "controllers/pool.hpp"
#include "controllers/provisioning/reconciler.hpp"
#include "test/support/fake_provider.hpp"
#include "test/unit/controllers/cluster.hpp"

namespace test {

// A pool "small" with nodes in service that are old enough to go: grace 1 min, no other delay, no budget.
struct DisruptionWorld : Cluster {
    fake::Cloud cloud{clock};
    controllers::Drainer drainer{informers, client, clock};
    providers::ProviderEnvironment environment{context.get_executor(), clock, *random, metrics, {},
                                               [] { return true; }};
    controllers::ProviderInstances instances{
        informers, client, environment, [this](providers::ProviderConfig, providers::ProviderEnvironment&) {
            return fake::make_fake_provider(cloud);
        }};
    controllers::PoolReconciler pools{informers, client, clock, events, metrics, reservations};
    controllers::ProvisioningReconciler provisioning{
        informers, client, clock, events, metrics, reservations, [this] { return may_mutate; }};
    controllers::DisruptionReconciler disruption{informers,
                                                 client,
                                                 clock,
                                                 events,
                                                 metrics,
                                                 drainer,
                                                 instances,
                                                 [this] { return provisioning.world_for_removals(); },
                                                 [this] { return may_mutate; }};
    std::map<std::string, std::string> replicas;  // pods that shall run, with their CPUs
    bool machines_join = true;
    std::chrono::seconds longest_wait{0};  // of a pod that was bound in the end, for its node

    enum class Buying { off, on };
    explicit DisruptionWorld(std::vector<std::string> nodes = {"a"}, Buying buying = Buying::off,
                             std::int64_t cores = 2) {
        put_basics();
        api::Secret secret;
        secret.metadata.namespace_ = "default";
        secret.metadata.name = "proxmox";
        server.put(secret);
        auto pool = objects::pool("small");
        pool.spec.scaleDown.emptyGracePeriod = std::chrono::minutes{1};
        pool.spec.scaleDown.minNodeAge = std::chrono::seconds{0};
        pool.spec.scaleDown.stabilizationWindow = std::chrono::seconds{0};
        pool.spec.scaleDown.unneededDuration = std::chrono::minutes{1};
        pool.spec.scaleDown.headroomPercent = 0;
        pool.spec.disruption.budgets.clear();
        pool.spec.machineTemplate.systemReserved = {0, 0};
        server.put(pool);
        std::int64_t sequence = 0;
        for (const auto& name : nodes) {
            auto claim = objects::bought_claim(name, this->pool(), ++sequence, cores, cores * 2048);
            claim.metadata.finalizers = {std::string(api::finalizers::kClaim)};
            join(server.put(claim));
            server.edit<objects::NodeSmithClaim>(api::key_of(claim), [](objects::NodeSmithClaim& serving) {
                for (auto& condition : serving.status.conditions)
                    condition.lastTransitionTime = objects::at(std::chrono::seconds{-10});
            });
        }
        server.edit<objects::NodeSmithPool>(
            {"default", "small"}, [&](auto& changed) { changed.status.nextClaimSequence = sequence + 1; });
        add("disruption", disruption);
        if (buying == Buying::on) {
            add("pool", pools);
            add("provisioning", provisioning);
        }
        start();
    }
    ~DisruptionWorld() { stop(); }

    void edit_pool(const std::function<void(objects::NodeSmithPool&)>& change) {
        server.edit<objects::NodeSmithPool>({"default", "small"}, change);
    }
    void made_from(const std::string& claim, const std::string& template_hash) {
        server.edit<objects::NodeSmithClaim>({"default", claim}, [&](objects::NodeSmithClaim& made) {
            made.status.templateHash = template_hash;
        });
    }
    std::optional<objects::NodeSmithClaim> find(const std::string& name) {
        return server.get<objects::NodeSmithClaim>({"default", name});
    }
    objects::NodeSmithClaim claim(const std::string& name) { return find(name).value(); }
    api::Node node(const std::string& name) { return server.get<api::Node>({"", name}).value(); }
    bool is_leaving(const std::string& name) { return claim(name).metadata.deletionTimestamp.has_value(); }
    bool is_tainted(const std::string& name) {
        return controllers::disruption::has_leaving_taint(node(name));
    }
    // "True Empty"
    std::string condition(const std::string& name, const std::string& type) {
        const auto held = claim(name);
        const auto* condition = api::find_condition(held.status.conditions, type);
        return condition ? std::string(to_string(condition->status)) + " " + condition->reason : "";
    }
    std::string disrupted(const std::string& name) { return condition(name, "Disrupted"); }

    api::Pod put_replica(const std::string& name, const std::string& cpu = "1") {
        auto pod = put_pending_pod(name, cpu, "256Mi");
        server.edit<api::Pod>({"default", name}, [&](api::Pod& owned) {
            owned.metadata.labels = {{"app", "web"}};
            auto& owner = owned.metadata.ownerReferences->emplace_back();
            owner.kind = "ReplicaSet";
            owner.name = owner.uid = "web";
            owner.controller = true;
        });
        return pod;
    }
    // Runs on the node, and is brought back by its controller wherever there is room.
    void put_running_pod(const std::string& name, const std::string& node, const std::string& cpu = "1") {
        put_replica(name, cpu);
        bind(name, node);
        replicas[name] = cpu;
    }
    // As its kubelet, or the end of its kubelet, makes it; from now on.
    void set_ready(const std::string& name, bool ready) {
        auto changed = node(name);
        objects::set_condition(changed.status.conditions, "Ready",
                               ready ? api::ConditionStatus::True : api::ConditionStatus::False,
                               api::Time(clock.wall_now()));
        server.put(changed);
    }
    // What the provider knows of the claim's machine.
    void plant_machine(const std::string& name, providers::MachineState state) {
        fake::CloudMachine machine;
        machine.machine_id = "100";
        machine.host = "host-a";
        machine.state = state;
        const auto provider = server.get<objects::NodeSmithProvider>({"default", "proxmox"}).value();
        machine.identity =
            controllers::claim::identity_of(claim(name), instances.cluster_id(), provider.metadata.uid);
        cloud.plant(machine);
    }
    std::string place_of(const std::string& pod) {
        const auto found = server.get<api::Pod>({"default", pod});
        return found ? found->spec.nodeName : "";
    }

    // Time with a scheduler, controllers and machines that do their work.
    void live(std::chrono::seconds duration, std::chrono::seconds step = std::chrono::seconds{1}) {
        seen_ = 0;
        for (auto left = duration; left > std::chrono::seconds{0}; left -= step) {
            run_for(std::min(left, step));
            if (server.store().version() != seen_) tick();
        }
    }

private:
    void tick() {
        seen_ = server.store().version();
        for (const auto& [name, cpu] : replicas)
            if (!server.get<api::Pod>({"default", name})) put_replica(name, cpu);
        schedule();
        if (machines_join) join_all();
        note_evictions();
        finish_deletions();
    }

    static std::int64_t milli_cpu(const api::Pod& pod) {
        return pod.spec.containers->at(0).resources.requests.at("cpu").milli();
    }

    // Controllers replace pods in the order in which they were told to end.
    void note_evictions() {
        for (const auto& pod : server.list<api::Pod>())
            if (pod.metadata.deletionTimestamp)
                evicted_[pod.metadata.name] = std::stoull(pod.metadata.resourceVersion);
    }

    // Who came first is first, to where least is in use, as the kube-scheduler does by default.
    void schedule() {
        struct Room {
            std::int64_t free = 0;
            std::int64_t all = 0;
        };
        std::map<std::string, Room> rooms;
        for (const auto& node : server.list<api::Node>()) {
            if (!node.spec.taints.empty() || node.spec.unschedulable || !controllers::is_ready(node))
                continue;
            const auto cpu = node.status.allocatable.at("cpu").milli();
            rooms[node.metadata.name] = {cpu, cpu};
        }
        std::vector<api::Pod> waiting;
        for (auto& pod : server.list<api::Pod>()) {
            const auto room = rooms.find(pod.spec.nodeName);
            if (room != rooms.end()) room->second.free -= milli_cpu(pod);
            if (pod.spec.nodeName.empty() && !pod.metadata.deletionTimestamp)
                waiting.push_back(std::move(pod));
        }
        std::ranges::sort(waiting, {}, [this](const auto& pod) {
            return std::pair(evicted_[pod.metadata.name], pod.metadata.name);
        });
        for (const auto& pod : waiting) {
            std::pair<const std::string, Room>* best = nullptr;
            for (auto& room : rooms) {
                const bool fits = milli_cpu(pod) <= room.second.free;
                if (fits &&
                    (!best || room.second.free * best->second.all > best->second.free * room.second.all))
                    best = &room;
            }
            if (!best) continue;
            best->second.free -= milli_cpu(pod);
            const auto waited = clock.wall_now() - pod.metadata.creationTimestamp->at;
            longest_wait = std::max(longest_wait, std::chrono::ceil<std::chrono::seconds>(waited));
            bind(pod.metadata.name, best->first);
        }
    }

    std::uint64_t seen_ = 0;
    std::map<std::string, std::uint64_t> evicted_;  // versions of the pods, by name
};

}  // namespace test

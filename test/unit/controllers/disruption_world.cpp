#include "test/unit/controllers/disruption_world.hpp"

#include "test/support/run_coroutine.hpp"

#include <algorithm>

#include "controllers/claim/facts/identity.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"

namespace test {
namespace {

std::int64_t milli_cpu(const api::Pod& pod) {
    return pod.spec.containers->at(0).resources.requests.at("cpu").milli();
}

}  // namespace

DisruptionWorld::DisruptionWorld(std::vector<std::string> nodes, Launching launching, std::int64_t cores) {
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
        auto claim = objects::created_claim(name, this->pool(), ++sequence, cores, cores * 2048);
        claim.metadata.finalizers = {std::string(api::finalizers::kClaim)};
        join(server.put(claim));
        server.edit<objects::NodeSmithClaim>(api::key_of(claim), [](objects::NodeSmithClaim& serving) {
            for (auto& condition : serving.status.conditions)
                condition.lastTransitionTime = objects::at(std::chrono::seconds{-10});
        });
    }
    server.edit<objects::NodeSmithPool>(
        {"default", "small"}, [&](auto& changed) { changed.status.nextClaimSequence = sequence + 1; });
    requests.on_effect = [this](const base::HttpRequest& request) { note_eviction(request); };
    add("claim", claim_reconciler);
    add("disruption", disruption);
    add("stoppedmachines", disruption.stopped_machines());
    if (launching == Launching::on) {
        add("pool", pools);
        add("provisioning", provisioning);
    }
    start();
}

DisruptionWorld::~DisruptionWorld() {
    stop();
    run(context, clock, drainer.end());
}

void DisruptionWorld::edit_pool(const std::function<void(objects::NodeSmithPool&)>& change) {
    server.edit<objects::NodeSmithPool>({"default", "small"}, change);
}

void DisruptionWorld::made_from(const std::string& claim, const std::string& template_hash) {
    server.edit<objects::NodeSmithClaim>(
        {"default", claim}, [&](objects::NodeSmithClaim& made) { made.status.templateHash = template_hash; });
}

std::optional<objects::NodeSmithClaim> DisruptionWorld::find(const std::string& name) {
    return server.get<objects::NodeSmithClaim>({"default", name});
}

api::Node DisruptionWorld::node(const std::string& name) {
    return server.get<api::Node>({"", name}).value();
}

bool DisruptionWorld::is_tainted(const std::string& name) {
    return controllers::disruption::has_leaving_taint(node(name));
}

std::string DisruptionWorld::condition(const std::string& name, const std::string& type) {
    const auto held = claim(name);
    const auto* condition = api::find_condition(held.status.conditions, type);
    return condition ? std::string(to_string(condition->status)) + " " + condition->reason : "";
}

api::Pod DisruptionWorld::put_replica(const std::string& name, const std::string& cpu) {
    auto pod = put_pending_pod(name, cpu, "256Mi");
    server.edit<api::Pod>({"default", name}, [&](api::Pod& owned) {
        owned.metadata.labels = {{"app", "web"}};
        auto& owner = owned.metadata.ownerReferences->emplace_back();
        owner.kind = "ReplicaSet";
        // Pods of one owner are made from one template.
        owner.name = owner.uid = "web-" + cpu;
        owner.controller = true;
    });
    return pod;
}

void DisruptionWorld::put_running_pod(const std::string& name, const std::string& node,
                                      const std::string& cpu) {
    put_replica(name, cpu);
    bind(name, node);
    replicas[name] = cpu;
}

void DisruptionWorld::set_ready(const std::string& name, bool ready) {
    auto changed = node(name);
    objects::set_condition(changed.status.conditions, "Ready",
                           ready ? api::ConditionStatus::True : api::ConditionStatus::False,
                           api::Time(clock.wall_now()));
    server.put(changed);
}

void DisruptionWorld::join(const objects::NodeSmithClaim& claim) {
    Cluster::join(claim);
    const auto provider = server.get<objects::NodeSmithProvider>({"default", "proxmox"}).value();
    const auto cluster_id = server.get<api::Namespace>({"", "kube-system"}).value().metadata.uid;
    fake::CloudMachine machine;
    machine.name = claim.metadata.name;
    machine.machine_id = cloud.next_id({});
    machine.host = "host-a";
    machine.state = providers::MachineState::running;
    server.edit<objects::NodeSmithClaim>(api::key_of(claim), [&](objects::NodeSmithClaim& launched) {
        auto& status = launched.status;
        status.machineID = machine.machine_id;
        status.host = machine.host;
        status.launchAttempts = 1;
        status.systemUUID = controllers::claim::system_uuid(claim.metadata.uid, 1);
        machine.identity = controllers::claim::identity_of(launched, cluster_id, provider.metadata.uid);
    });
    server.edit<api::Node>({"", claim.metadata.name}, [&](api::Node& node) {
        node.status.nodeInfo.systemUUID = machine.identity.system_uuid;
        node.metadata.labels[std::string(api::labels::kHost)] = machine.host;
    });
    cloud.plant(std::move(machine));
}

fake::CloudMachine& DisruptionWorld::machine(const std::string& name) {
    return cloud.machines.at(claim(name).status.machineID);
}

void DisruptionWorld::hold_machines() {
    const providers::RemovalInProgress slow{"shutting down", "task", std::chrono::seconds{10}};
    cloud.next_remove.assign(10'000, slow);
}

bool DisruptionWorld::is_leaving(const std::string& name) {
    const auto found = find(name);
    return !found || found->metadata.deletionTimestamp;
}

std::string DisruptionWorld::place_of(const std::string& pod) {
    const auto found = server.get<api::Pod>({"default", pod});
    return found ? found->spec.nodeName : "";
}

void DisruptionWorld::live(std::chrono::seconds duration, std::chrono::seconds step) {
    seen_ = 0;
    for (auto left = duration; left > std::chrono::seconds{0}; left -= step) {
        run_for(std::min(left, step));
        if (server.store().version() != seen_) tick();
    }
}

void DisruptionWorld::tick() {
    seen_ = server.store().version();
    for (const auto& [name, cpu] : replicas)
        if (!server.get<api::Pod>({"default", name})) put_replica(name, cpu);
    schedule();
    if (machines_join) boot_machines();
}

// Lets the kubelets of new machines join immediately.
void DisruptionWorld::boot_machines() {
    for (const auto& [id, machine] : cloud.machines) {
        const bool is_up = machine.state == providers::MachineState::running && !machine.removing;
        if (!is_up || server.get<api::Node>({"", machine.name})) continue;
        auto node = objects::node(machine.name, true, std::to_string(machine.cpu_cores),
                                  std::to_string(machine.memory_mib) + "Mi");
        node.metadata.uid.clear();
        node.metadata.creationTimestamp = api::Time(clock.wall_now());
        node.metadata.labels = {{"kubernetes.io/hostname", machine.name}};
        node.status.nodeInfo.systemUUID = machine.identity.system_uuid;
        server.put(node);
    }
}

// Notes the order of evictions, because controllers replace pods in that order.
void DisruptionWorld::note_eviction(const base::HttpRequest& request) {
    constexpr std::string_view kPods = "/pods/";
    constexpr std::string_view kEviction = "/eviction";
    const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
    const auto name = path.find(kPods);
    if (name == std::string_view::npos || !path.ends_with(kEviction)) return;
    const auto begin = name + kPods.size();
    evicted_[std::string(path.substr(begin, path.size() - kEviction.size() - begin))] = ++evictions_;
}

// Binds pods in the order of their arrival, each where least is in use, as the kube-scheduler does by
// default.
void DisruptionWorld::schedule() {
    struct Room {
        std::int64_t free = 0;
        std::int64_t all = 0;
    };
    std::map<std::string, Room> rooms;
    for (const auto& node : server.list<api::Node>()) {
        if (!node.spec.taints.empty() || node.spec.unschedulable || !controllers::is_ready(node)) continue;
        const auto cpu = node.status.allocatable.at("cpu").milli();
        rooms[node.metadata.name] = {cpu, cpu};
    }
    std::vector<api::Pod> waiting;
    for (auto& pod : server.list<api::Pod>()) {
        const auto room = rooms.find(pod.spec.nodeName);
        if (room != rooms.end()) room->second.free -= milli_cpu(pod);
        if (pod.spec.nodeName.empty() && !pod.metadata.deletionTimestamp) waiting.push_back(std::move(pod));
    }
    std::ranges::sort(waiting, {}, [this](const auto& pod) {
        return std::pair(evicted_[pod.metadata.name], pod.metadata.name);
    });
    for (const auto& pod : waiting) {
        std::pair<const std::string, Room>* best = nullptr;
        for (auto& room : rooms) {
            const bool fits = milli_cpu(pod) <= room.second.free;
            if (fits && (!best || room.second.free * best->second.all > best->second.free * room.second.all))
                best = &room;
        }
        if (!best) continue;
        best->second.free -= milli_cpu(pod);
        const auto waited = clock.wall_now() - pod.metadata.creationTimestamp->at;
        longest_wait = std::max(longest_wait, std::chrono::ceil<std::chrono::seconds>(waited));
        bind(pod.metadata.name, best->first);
    }
}

}  // namespace test

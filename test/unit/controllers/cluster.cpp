#include "test/unit/controllers/cluster.hpp"

#include <boost/asio/co_spawn.hpp>

namespace test {

using objects::NodeSmithClaim;
using objects::NodeSmithPool;

std::size_t RecordedEvents::count(const std::string& text) const {
    std::size_t found = 0;
    for (const auto& line : lines)
        if (line.find(text) != std::string::npos) ++found;
    return found;
}

Cluster::Cluster()
    : server(context.get_executor(), clock),
      client(server.connect(&requests), clock, metrics),
      informers(client, clock, *random, context.get_executor()),
      reservations(informers, client, clock) {
    api::Namespace system;
    system.metadata.name = "kube-system";
    server.put(system);
}

Cluster::~Cluster() {
    stop();
}

void Cluster::start() {
    running_ = std::make_unique<base::TaskGroup>(context.get_executor());
    informers.spawn_all(*running_);
    run_for(std::chrono::milliseconds{100});
    for (auto& controller : controllers_) running_->spawn(controller->run());
}

void Cluster::stop() {
    if (!running_) return;
    running_->stop();
    bool ended = false;
    asio::co_spawn(context, running_->join(), [&](std::exception_ptr) { ended = true; });
    for (int i = 0; i < 100 && !ended; ++i) run_for(std::chrono::milliseconds{10});
    running_.reset();
}

void Cluster::put_basics() {
    auto provider = objects::provider("proxmox");
    api::v1alpha1::ProviderHost host;
    host.name = "pve1";
    host.online = true;
    host.cpuCores = host.freeCPUCores = 256;
    host.memoryMiB = host.freeMemoryMiB = 1024 * 1024;
    provider.status.hosts.push_back(host);
    server.put(provider);
    server.put(objects::control_plane("main", {"*"}));
}

NodeSmithPool Cluster::pool(const std::string& name) {
    return server.get<NodeSmithPool>({"default", name}).value();
}

std::vector<NodeSmithClaim> Cluster::claims(const std::string& pool) {
    std::vector<NodeSmithClaim> result;
    for (auto& claim : server.list<NodeSmithClaim>())
        if (claim.spec.poolRef == pool) result.push_back(std::move(claim));
    return result;
}

api::Pod Cluster::put_pending_pod(const std::string& name, const std::string& cpu,
                                  const std::string& memory) {
    return put_pending(a_pod(name).requesting(cpu, memory));
}

api::Pod Cluster::put_pending(builders::PodBuilder pod) {
    return server.put<api::Pod>(pod.unschedulable(api::Time(clock.wall_now())));
}

void Cluster::bind(const std::string& pod, const std::string& node) {
    auto bound = server.get<api::Pod>({"default", pod}).value();
    bound.spec.nodeName = node;
    bound.status.phase = api::PodPhase::Running;
    objects::set_condition(*bound.status.conditions, "PodScheduled", api::ConditionStatus::True);
    server.put(bound);
}

void Cluster::join(const NodeSmithClaim& claim) {
    auto joined = server.get<NodeSmithClaim>(api::key_of(claim)).value();
    const api::Time now(clock.wall_now());
    joined = objects::in_service(joined, now);
    server.put(joined);
    auto node = objects::node(claim.metadata.name, true, std::to_string(claim.spec.requirements.cpuCores),
                              std::to_string(claim.spec.requirements.memoryMiB) + "Mi");
    node.metadata.uid.clear();
    node.metadata.creationTimestamp = now;
    node.metadata.labels = {{"kubenodesmith.io/nodeclaim", claim.metadata.name},
                            {"topology.kubenodesmith.io/pool", claim.spec.poolRef},
                            {"kubernetes.io/hostname", claim.metadata.name}};
    server.put(node);
}

void Cluster::join_all(const std::string& pool) {
    for (const auto& claim : claims(pool))
        if (claim.status.nodeName.empty()) join(claim);
}

void Cluster::fail(const NodeSmithClaim& claim) {
    auto failed = server.get<NodeSmithClaim>(api::key_of(claim)).value();
    const api::Time now(clock.wall_now());
    objects::set_condition(failed.status.conditions, "Failed", api::ConditionStatus::True, now);
    objects::set_condition(failed.status.conditions, "MachineDeleted", api::ConditionStatus::True, now);
    server.put(failed);
}

void Cluster::finish_deletions() {
    for (const auto& claim : server.list<NodeSmithClaim>()) {
        const bool is_held_by_others = !api::has_finalizer(claim.metadata, api::finalizers::kClaim);
        if (!claim.metadata.deletionTimestamp || is_held_by_others) continue;
        if (!claim.status.nodeName.empty()) server.remove<api::Node>({"", claim.status.nodeName});
        server.edit<NodeSmithClaim>(api::key_of(claim),
                                    [](NodeSmithClaim& gone) { gone.metadata.finalizers->clear(); });
    }
}

}  // namespace test

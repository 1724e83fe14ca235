#include "controllers/provisioning/machine_offer.hpp"

#include <algorithm>

#include "controllers/claim/facts/boot_rights.hpp"
#include "controllers/limits/limits.hpp"
#include "controllers/provisioning/gates.hpp"
#include "controllers/state/learning.hpp"
#include "controllers/state/prices.hpp"
#include "scheduling/machines/machine_sizes.hpp"

namespace controllers::provisioning {

namespace {

// This share of the boot disk counts until the real one is learned. The kubelet keeps 10 % free (evictionHard
// nodefs.available,
// https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/#hard-eviction-thresholds).
// Partitions and the file system take about 5 %.
constexpr std::int64_t kDiskPercentForPods = 85;
constexpr std::int64_t kMiBPerGiB = 1024;

std::int64_t stated_pods(const NodeSmithPool& pool) {
    const auto& bootstrap = pool.spec.bootstrap;
    return bootstrap && bootstrap->kubelet ? bootstrap->kubelet->maxPods : 0;
}

// Returns the smaller value: the kubelet gets the stated one, but an image
// that joins by itself may ignore it.
std::int64_t pods_per_node(std::int64_t stated, std::int64_t learned) {
    if (stated > 0 && learned > 0) return std::min(stated, learned);
    if (stated > 0 || learned > 0) return std::max(stated, learned);
    return scheduling::kDefaultPodsPerNode;
}

// Returns the memory that the kubelet subtracts from its allocatable memory for huge pages.
// Source: k8s.io/kubernetes/pkg/kubelet/nodestatus (MachineInfo).
std::int64_t huge_pages_mib(const api::ResourceList& resources) {
    base::Saturating bytes = 0;
    for (const auto& [name, amount] : resources)
        if (name.starts_with("hugepages-")) bytes = bytes + amount.value();
    return (bytes + (scheduling::kMiB - 1)) / scheduling::kMiB;
}

// Returns what a machine reserves. The difference that its Nodes show includes their huge pages.
api::v1alpha1::SystemReserved reserved_of(const NodeSmithPool& pool) {
    if (pool.status.learnedReserved) return *pool.status.learnedReserved;
    auto reserved = pool.spec.machineTemplate.systemReserved;
    reserved.memoryMiB =
        base::Saturating(reserved.memoryMiB) + huge_pages_mib(pool.spec.machineTemplate.extendedResources);
    return reserved;
}

// Adds what former Nodes of the template showed. The solve reads present Nodes itself.
void add_learned(scheduling::Pool& entry, const api::v1alpha1::PoolStatus& status,
                 const std::string& template_hash) {
    for (const auto& limit : status.learnedVolumeLimits)
        if (limit.templateHash == template_hash)
            entry.learned_volume_limits.emplace(limit.driver, limit.count);
    for (const auto& learned : status.learnedDaemonSets)
        if (learned.templateHash == template_hash)
            entry.learned_daemons.push_back(
                {learned.uid, learned.templateGeneration, learned.cpuMillicores, learned.memoryMiB});
}

void describe_offer(scheduling::Pool& entry, const NodeSmithPool& pool, const NodeSmithProvider* provider,
                    const std::string& template_hash) {
    const auto& machine = pool.spec.machineTemplate;
    entry.prices = prices_of(pool);
    if (provider && provider->spec.proxmox)
        entry.memory_overhead_mib = provider->spec.proxmox->vmMemOverheadMiB;
    entry.reserved = reserved_of(pool);
    entry.extended_resources = machine.extendedResources;
    entry.volume_limits = machine.volumeLimits;
    entry.storage_capacity = machine.storageCapacity;
    entry.pods_per_node = pods_per_node(stated_pods(pool), 0);
    if (provider && provider->status.bootDiskGiB > 0)
        entry.ephemeral_storage_mib = provider->status.bootDiskGiB * kMiBPerGiB * kDiskPercentForPods / 100;
    const auto& learned = pool.status.learnedOffer;
    if (!learned || learned->templateHash != template_hash) return;
    entry.pods_per_node = pods_per_node(stated_pods(pool), learned->pods);
    if (learned->ephemeralStorageMiB > 0) entry.ephemeral_storage_mib = learned->ephemeralStorageMiB;
}

}  // namespace

void describe_machines(scheduling::Pool& entry, const NodeSmithPool& pool, const NodeSmithProvider* provider,
                       const std::string& template_hash) {
    const auto& machine = pool.spec.machineTemplate;
    describe_offer(entry, pool, provider, template_hash);
    add_learned(entry, pool.status, template_hash);
    entry.taints = machine.taints;
    for (const auto& size : machine.sizes)
        entry.shapes.push_back({size.name, size.cpuCores, size.memoryMiB, entry.pods_per_node});
    entry.flexible = machine.flexible.value_or(api::v1alpha1::FlexibleSize{});
}

void leave_out(scheduling::Pool& entry, const std::vector<ClaimRefusal>& refusals) {
    for (auto& shape : entry.shapes) {
        const auto is_of_shape = [&shape](const ClaimRefusal& refusal) {
            return shape.cpu_cores == refusal.size.cpuCores && shape.memory_mib == refusal.size.memoryMiB;
        };
        const auto refusal = std::ranges::find_if(refusals, is_of_shape);
        if (refusal != refusals.end()) shape.refused = refusal_text(*refusal);
    }
}

NodeSmithPool with_bootstrap(NodeSmithPool pool, const NodeSmithControlPlane* manager) {
    pool.spec.bootstrap = bootstrap_of(pool, manager);
    return pool;
}

PoolPointer as_its_nodes_show(const PoolPointer& pool, const PoolObservation& facts,
                              const std::string& template_hash) {
    const auto reserved = learn_reserved(facts, template_hash);
    auto offer = learn_offer(facts, template_hash);
    const bool is_told_more = !pool->spec.bootstrap && facts.manager && facts.manager->spec.bootstrap;
    if (!is_told_more && reserved == pool->status.learnedReserved && offer == pool->status.learnedOffer)
        return pool;
    auto picture = std::make_shared<NodeSmithPool>(with_bootstrap(*pool, facts.manager));
    picture->status.learnedReserved = reserved;
    picture->status.learnedOffer = std::move(offer);
    return picture;
}

api::ResourceList expected_allocatable(const NodeSmithClaim& claim, const NodeSmithPool* pool,
                                       const NodeSmithProvider* provider) {
    const auto size = limits::size_of(claim.spec, pool);
    scheduling::Pool entry;
    auto made_by = claim.status.templateHash;
    if (pool && pool->status.learnedOffer && made_by.empty())
        made_by = pool->status.learnedOffer->templateHash;
    if (pool) describe_offer(entry, *pool, provider, made_by);
    entry.extended_resources = claim.spec.extendedResources;
    return scheduling::expected_allocatable(entry, {size.cpuCores, size.memoryMiB});
}

}  // namespace controllers::provisioning

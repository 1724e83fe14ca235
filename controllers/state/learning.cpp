#include "controllers/state/learning.hpp"

#include <algorithm>

#include "base/saturating.hpp"
#include "controllers/claim/facts/boot_rights.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/template_hash.hpp"
#include "controllers/limits/limits.hpp"
#include "controllers/state/newest_nodes.hpp"
#include "controllers/state/shown_by_nodes.hpp"
#include "scheduling/input/snapshot.hpp"

namespace controllers {

using api::v1alpha1::LearnedOffer;
using api::v1alpha1::PoolStatus;
using api::v1alpha1::SystemReserved;

namespace {

// A kubelet reserves at most half of its machine. One Node alone moves the expected reserve by at most a
// quarter of its machine. It can halve the expected pods and storage.
constexpr std::int64_t kPlausiblePart = 2;
constexpr std::int64_t kPartOfOne = 4;
constexpr std::int64_t kMiB = 1024 * 1024;

void add_reserve(Shown& shown, std::int64_t size, std::int64_t offered, std::int64_t stated) {
    const std::int64_t kept = base::Saturating(size) - offered;
    const auto plausible = std::clamp<std::int64_t>(kept, 0, size / kPlausiblePart);
    const std::int64_t most_alone = base::Saturating(stated) + size / kPartOfOne;
    shown.add(plausible, std::min(plausible, most_alone));
}

// The minimum counts, so it is the maximum with reversed sign.
void add_offer(Shown& shown, std::int64_t offered, std::int64_t expected, std::int64_t most) {
    const auto plausible = std::min(offered, most);
    shown.add(-plausible, -std::max(plausible, expected / kPlausiblePart));
}

// A kubelet that cannot determine a resource reports 0.
std::optional<api::Quantity> offered(const api::Node& node, const char* name) {
    const auto found = node.status.allocatable.find(name);
    if (found == node.status.allocatable.end() || found->second.is_zero()) return std::nullopt;
    return found->second;
}

std::optional<SystemReserved> shown_reserve(const PoolObservation& facts) {
    const auto& stated = facts.object.spec.machineTemplate.systemReserved;
    Shown millicores;
    Shown memory_mib;
    for (const auto& claim : facts.claims) {
        const auto* node = joined_node_of(*claim, facts.nodes);
        if (!node) continue;
        const auto size = limits::size_of(claim->spec, &facts.object);
        const auto cpu = offered(*node, "cpu");
        const auto memory = offered(*node, "memory");
        if (!cpu || !memory) continue;
        const std::int64_t cores = base::Saturating(size.cpuCores) * 1000;
        add_reserve(millicores, cores, cpu->milli(), stated.cpuMillicores);
        // Rounded so that the remainder is never overestimated.
        add_reserve(memory_mib, size.memoryMiB, memory->value() / kMiB, stated.memoryMiB);
    }
    if (!millicores.value()) return std::nullopt;
    return SystemReserved{*millicores.value(), *memory_mib.value()};
}

std::int64_t expected_pods(const PoolObservation& facts) {
    const auto bootstrap = bootstrap_of(facts.object, facts.manager);
    const auto stated = bootstrap.kubelet ? bootstrap.kubelet->maxPods : 0;
    return stated > 0 ? stated : scheduling::kDefaultPodsPerNode;
}

std::optional<LearnedOffer> shown_offer(const PoolObservation& facts, const std::string& template_hash) {
    // Disks of bare metal differ between hosts, and machines without one keep files in memory.
    const std::int64_t disk_mib =
        facts.provider ? base::Saturating(facts.provider->status.bootDiskGiB) * 1024 : base::Saturating(0);
    const auto usual_pods = expected_pods(facts);
    Shown pods;
    Shown storage;
    for (const auto& claim : facts.claims) {
        const auto* node = joined_node_of(*claim, facts.nodes);
        if (!node || claim->status.templateHash != template_hash) continue;
        if (const auto count = offered(*node, "pods"))
            add_offer(pods, count->value(), usual_pods, kPlausiblePart * usual_pods);
        const auto size = offered(*node, "ephemeral-storage");
        if (size && disk_mib > 0) add_offer(storage, size->value() / kMiB, disk_mib, disk_mib);
    }
    if (!pods.value() && !storage.value()) return std::nullopt;
    return LearnedOffer{template_hash, -pods.value().value_or(0), -storage.value().value_or(0)};
}

}  // namespace

std::optional<SystemReserved> learn_reserved(const PoolObservation& facts, const std::string& template_hash) {
    const auto shown = shown_reserve(facts);
    const auto& status = facts.object.status;
    if (!status.learnedReserved || status.learnedTemplateHash != template_hash) return shown;
    if (!shown) return status.learnedReserved;
    return SystemReserved{std::max(shown->cpuMillicores, status.learnedReserved->cpuMillicores),
                          std::max(shown->memoryMiB, status.learnedReserved->memoryMiB)};
}

std::optional<LearnedOffer> learn_offer(const PoolObservation& facts, const std::string& template_hash) {
    if (auto shown = shown_offer(facts, template_hash)) return shown;
    const auto& known = facts.object.status.learnedOffer;
    return known && known->templateHash == template_hash ? known : std::nullopt;
}

void note_learned(const PoolObservation& facts, PoolStatus& status, api::Time now) {
    const auto template_hash = claim::template_hash(facts.object, facts.provider);
    const auto reserved = shown_reserve(facts);
    const auto offer = shown_offer(facts, template_hash);
    status.learnedReserved = learn_reserved(facts, template_hash);
    status.learnedOffer = learn_offer(facts, template_hash);
    const bool is_shown = status.learnedReserved == reserved && status.learnedOffer == offer;
    if (is_shown || (status.learnedExpires && *status.learnedExpires <= now)) {
        status.learnedReserved = reserved;
        status.learnedOffer = offer;
        status.learnedExpires.reset();
    } else if (!status.learnedExpires) {
        status.learnedExpires = claim::later(now, kKeptUnseen);
    }
    status.learnedTemplateHash = status.learnedReserved ? template_hash : std::string();
    status.learnedDaemonSets = learn_daemon_sets(facts, template_hash, now);
    status.learnedVolumeLimits = learn_volume_limits(facts, template_hash, now);
}

std::string why_nothing_offered(const NodeSmithPool& pool) {
    const auto& machine = pool.spec.machineTemplate;
    const auto largest = limits::largest_size(machine);
    const auto& learned = pool.status.learnedReserved;
    const auto reserved = learned.value_or(machine.systemReserved);
    const std::int64_t millicores = base::Saturating(largest.cpuCores) * 1000;
    if (reserved.cpuMillicores < millicores && reserved.memoryMiB < largest.memoryMiB) return {};
    return "the largest machine (" + claim::size_text(largest) + ") offers nothing to pods, because " +
           std::to_string(reserved.cpuMillicores) + "m CPU and " + std::to_string(reserved.memoryMiB) +
           " MiB are reserved for the system (" +
           (learned ? "status.learnedReserved, as its Nodes show" : "spec.machineTemplate.systemReserved") +
           "): specify larger sizes" + (learned ? "" : " or a smaller reserve");
}

}  // namespace controllers

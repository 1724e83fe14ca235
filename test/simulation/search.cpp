#include "test/simulation/search.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "test/simulation/offers.hpp"

namespace simulation {
namespace {

struct Used {
    std::int64_t nodes = 0, cpu_cores = 0, memory_mib = 0;
};

bool is_not_launched_for(const NodeSmithClaim& claim, std::initializer_list<std::string_view> reasons) {
    const auto* launched = api::find_condition(claim.status.conditions, api::conditions::kLaunched);
    return launched && launched->status != api::ConditionStatus::True &&
           std::ranges::find(reasons, launched->reason) != reasons.end();
}

// Reports whether the claim lost its status and a person has to find its machine. Nothing comes until then.
bool waits_for_person(const NodeSmithClaim& claim) {
    return is_not_launched_for(claim, {"MachineNotShown", "SeveralMachines", "MarkOfOtherMachine"});
}

// Reports whether the claim lost its status, so that it may have a machine. A claim that a user applied shows
// nothing else of it.
bool may_have_lost_machine(const NodeSmithClaim& claim) {
    return waits_for_person(claim) || is_not_launched_for(claim, {"MachineNotKnown"});
}

// Returns the use of one pool, or of all pools if it is "".
Used used_of(const World& world, const std::string& pool) {
    Used used;
    for (const auto& [key, claim] : world.view.all<NodeSmithClaim>()) {
        const bool counts = may_have_machine(*claim) || may_have_lost_machine(*claim);
        if ((!pool.empty() && claim->spec.poolRef != pool) || !counts) continue;
        ++used.nodes;
        used.cpu_cores += claim->spec.requirements.cpuCores;
        used.memory_mib += claim->spec.requirements.memoryMiB;
    }
    return used;
}

template <class Limits>
bool allows(const Limits& limits, const Used& used, const HelpfulMachine& planned_claim) {
    const auto fits = [](std::int64_t limit, std::int64_t has, std::int64_t more) {
        return limit == 0 || has + more <= limit;
    };
    return fits(limits.maxNodes, used.nodes, 1) &&
           fits(limits.cpuCores, used.cpu_cores, planned_claim.cpu_cores) &&
           fits(limits.memoryMiB, used.memory_mib, planned_claim.memory_mib);
}

bool is_after(const World& world, const std::optional<api::Time>& time) {
    return time && world.clock.wall_now() < time->at;
}

// Reports whether the provider refused to create the machine of the pool's last failed claim. Another try
// costs no machine, so a pause after it is no excuse.
bool pauses_after_refusal(const World& world, const NodeSmithPool& pool) {
    const auto& words = world.interference.machine_refusal.message;
    // The claim itself may be gone.
    const auto last = world.interference.last_failures.find(pool.metadata.name);
    const bool is_known = last != world.interference.last_failures.end() && !words.empty();
    return is_known && last->second.find(words) != std::string::npos;
}

// Reports whether the pool may launch. The operator may report that the pool itself waits for a time or for
// its user.
bool is_open(const World& world, const NodeSmithControlPlane& plane, const NodeSmithPool& pool) {
    const auto& listed = plane.spec.pools;
    const bool is_listed = std::ranges::find(listed, "*") != listed.end() ||
                           std::ranges::find(listed, pool.metadata.name) != listed.end();
    if (!is_listed || plane.spec.mode != api::v1alpha1::Mode::Active || pool.metadata.deletionTimestamp)
        return false;
    if (api::is_false(plane.status.conditions, api::conditions::kClusterHealthy)) return false;
    if (is_after(world, pool.status.nextRetryTime) && !pauses_after_refusal(world, pool)) return false;
    const auto& losses = pool.status.losses;
    if (losses && is_after(world, losses->nextRetryTime)) return false;
    // The pool has not yet tried again whether new Nodes keep their taints.
    const bool keeps_taints = std::ranges::any_of(pool.status.undeclaredTaints, [&world](const auto& taint) {
        return !taint.nextRetryTime || is_after(world, taint.nextRetryTime);
    });
    if (keeps_taints) return false;
    const auto& up = pool.spec.scaleUp;
    const auto& last = pool.status.lastScaleUpTime;
    if (last && is_after(world, api::Time(last->at + up.stabilizationWindow.value))) return false;
    if (up.maxConcurrent == 0) return true;
    const auto coming = std::ranges::count_if(world.view.all<NodeSmithClaim>(), [&pool](const auto& entry) {
        const auto& claim = *entry.second;
        return claim.spec.poolRef == pool.metadata.name && !claim.metadata.deletionTimestamp &&
               !waits_for_person(claim) &&
               !api::is_true(claim.status.conditions, api::conditions::kRegistered) &&
               !api::is_true(claim.status.conditions, api::conditions::kFailed);
    });
    return coming < up.maxConcurrent;
}

std::int64_t stepped(std::int64_t needed, std::int64_t least, std::int64_t step) {
    if (needed <= least) return least;
    step = std::max<std::int64_t>(step, 1);
    return least + (needed - least + step - 1) / step * step;
}

// Returns the sizes that the search tries: each size with a name, or the smallest that holds the requests.
std::vector<api::v1alpha1::Size> sizes_for(const World& world, const NodeSmithPool& pool,
                                           const api::ResourceList& wanted) {
    const auto& machine = pool.spec.machineTemplate;
    std::vector<api::v1alpha1::Size> sizes;
    for (const auto& size : machine.sizes) sizes.push_back({size.cpuCores, size.memoryMiB});
    if (!sizes.empty()) return sizes;
    const auto flexible = machine.flexible.value_or(api::v1alpha1::FlexibleSize{});
    const auto amount = [&wanted](const char* name) {
        const auto found = wanted.find(name);
        return found == wanted.end() ? api::Quantity::of(0) : found->second;
    };
    const Registration huge{"", "", 1024, 1 << 20, 0, {}, {}, "", {}};
    const auto most = offered(world, pool, huge);
    const auto cpu = amount("cpu").milli() + huge.cpu_cores * 1000 - most.at("cpu").milli();
    const auto memory = amount("memory").mebibytes() + huge.memory_mib - most.at("memory").mebibytes();
    const api::v1alpha1::Size size{stepped((cpu + 999) / 1000, flexible.cpuCores.min, flexible.cpuCores.step),
                                   stepped(memory, flexible.memoryMiB.min, flexible.memoryMiB.step)};
    if (size.cpuCores <= flexible.cpuCores.max && size.memoryMiB <= flexible.memoryMiB.max)
        sizes.push_back(size);
    return sizes;
}

class Search {
public:
    Search(const World& world, const api::Pod& pod)
        : world_(world), pod_(pod), nodes_(candidates(world.view)) {}

    std::optional<HelpfulMachine> in(const NodeSmithControlPlane& plane, const NodeSmithPool& pool) {
        const auto* provider =
            world_.view.find<NodeSmithProvider>({pool.metadata.namespace_, pool.spec.providerRef});
        if (!provider || !provider->spec.proxmox || !is_open(world_, plane, pool)) return std::nullopt;
        if (!api::is_true(provider->status.conditions, api::conditions::kReady)) return std::nullopt;
        if (world_.interference.hang.concerns(pool.metadata.name) ||
            world_.interference.machine_refusal.concerns(pool.metadata.name))
            return std::nullopt;
        for (const auto& room : rooms_for(world_, *provider)) {
            auto planned_claim = on(room, pool, *provider);
            if (planned_claim &&
                allows(pool.spec.limits, used_of(world_, pool.metadata.name), *planned_claim) &&
                allows(plane.spec.limits, used_of(world_, ""), *planned_claim))
                return planned_claim;
        }
        return std::nullopt;
    }

private:
    std::optional<HelpfulMachine> on(const Room& room, const NodeSmithPool& pool,
                                     const NodeSmithProvider& provider) {
        const auto node = new_node(pool, provider, room.host);
        if (node_refuses(node, pod_)) return std::nullopt;
        const auto daemons = daemons_on(world_, node);
        auto wanted = requests_of(pod_);
        for (const auto& daemon : daemons)
            for (const auto& [name, amount] : requests_of(daemon)) wanted[name] += amount;
        nodes_.push_back({&node, {}, {}});
        const bool is_refused = pods_refuse(nodes_.back(), nodes_, pod_).has_value();
        nodes_.pop_back();
        if (is_refused) return std::nullopt;
        for (const auto& size : sizes_for(world_, pool, wanted)) {
            if (world_.interference.refusal.concerns(pool.metadata.name, size.cpuCores)) continue;
            const auto memory = size.memoryMiB + provider.spec.proxmox->vmMemOverheadMiB;
            if (size.cpuCores > room.cpus || memory > room.memory_mib) continue;
            const Registration machine{"", "", size.cpuCores, size.memoryMiB, room.disk_mib, {}, {}, "", {}};
            if (!lacks(offered(world_, pool, machine), wanted))
                return HelpfulMachine{pool.metadata.name, room.host, size.cpuCores, size.memoryMiB};
        }
        return std::nullopt;
    }

    const World& world_;
    const api::Pod& pod_;
    std::vector<Candidate> nodes_;
};

// Returns the common name of the pods of one deployment: the pod's name without its number.
std::string family_of(const std::string& pod) {
    return pod.substr(0, pod.rfind('-'));
}

// Reports whether launches for the pod are held back. A machine that was launched for it or a similar pod
// became a Node, and the pod was not placed there.
bool is_held_back(const World& world, const api::Pod& pod) {
    const auto family = family_of(api::key_of(pod).str());
    return std::ranges::any_of(world.view.all<NodeSmithPool>(), [&](const auto& entry) {
        return std::ranges::any_of(entry.second->status.mispredictions, [&](const auto& wrong) {
            return family_of(wrong.pod) == family && is_after(world, wrong.nextRetryTime);
        });
    });
}

}  // namespace

std::string HelpfulMachine::str() const {
    return "a machine of pool " + pool + " with " + std::to_string(cpu_cores) + " CPUs and " +
           std::to_string(memory_mib) + " MiB on host " + host;
}

bool waits_for_node(const api::Pod& pod) {
    return is_alive(pod) && pod.spec.nodeName.empty() && !belongs_to_node(pod) &&
           api::is_false(pod.status.conditions, api::conditions::kPodScheduled);
}

bool may_have_machine(const NodeSmithClaim& claim) {
    const auto& conditions = claim.status.conditions;
    const bool ends = claim.metadata.deletionTimestamp || api::is_true(conditions, api::conditions::kFailed);
    if (ends && api::is_true(conditions, api::conditions::kMachineDeleted)) return false;
    if (ends && claim.status.keptSince) return false;  // it is stopped and kept for inspection
    // A claim that a user applied waits for its place. It may have a machine once it has made an attempt.
    return !claim.spec.idempotencyKey.empty() || !claim.status.machineID.empty() ||
           claim.status.launchAttempts > 0;
}

bool is_on_its_way(const NodeSmithClaim& claim) {
    const auto& conditions = claim.status.conditions;
    if (claim.metadata.deletionTimestamp || api::is_true(conditions, api::conditions::kFailed) ||
        api::is_true(conditions, api::conditions::kDisrupted) ||
        api::is_true(conditions, api::conditions::kInitialized))
        return false;
    return !waits_for_person(claim) &&
           !is_not_launched_for(claim, {api::reasons::kInsufficientCapacity, api::reasons::kLimitExceeded});
}

std::optional<HelpfulMachine> machine_that_helps(const World& world, const api::Pod& pod) {
    // The search does not know where volumes can be used.
    if (is_held_back(world, pod) || uses_volumes(pod)) return std::nullopt;
    Search search(world, pod);
    for (const auto& [plane_key, plane] : world.view.all<NodeSmithControlPlane>()) {
        for (const auto& [key, pool] : world.view.all<NodeSmithPool>())
            if (auto planned_claim = search.in(*plane, *pool)) return planned_claim;
    }
    return std::nullopt;
}

}  // namespace simulation

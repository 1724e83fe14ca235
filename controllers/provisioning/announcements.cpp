#include "controllers/provisioning/announcements.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "base/text.hpp"
#include "controllers/claim/facts/undeclared_taints.hpp"
#include "controllers/provisioning/expected_node.hpp"
#include "controllers/provisioning/facts/room.hpp"
#include "kube/controller.hpp"
#include "scheduling/pods/claim_name.hpp"

namespace controllers::provisioning {

namespace {

// The API server accepts at most 1024 bytes in an Event's message.
constexpr std::size_t kLongestMessage = 1000;

std::string joined(const std::vector<std::string>& reasons) {
    return base::shortened(base::joined(reasons, "; "), kLongestMessage);
}

// Returns when pods that wait for a machine of an unavailable provider get another one.
std::optional<api::Time> next_end_of_patience(const Informers& informers, api::Time now) {
    std::optional<api::Time> next;
    for (const auto& [key, claim] : informers.claims.store().all()) {
        if (!is_coming(*claim) || api::is_true(claim->status.conditions, conditions::kLaunched)) continue;
        const auto pool = informers.pools.store().get({key.namespace_, claim->spec.poolRef});
        if (!pool) continue;
        const auto provider = informers.providers.store().get({key.namespace_, pool->spec.providerRef});
        const auto end = provider ? end_of_patience(*provider) : std::nullopt;
        if (end && now < *end) next = next ? std::min(*next, *end) : *end;
    }
    return next;
}

// Volumes that need no node are created and bound within this time, usually. Controllers create claims of
// ephemeral volumes and of StatefulSets meanwhile, too.
constexpr std::chrono::seconds kVolumePatience{30};

// Reports whether the claim's volume is created without a pod on a node.
bool binds_by_itself(const api::PersistentVolumeClaim& claim, const Informers& informers) {
    const auto& name = claim.spec.storageClassName;
    if (!claim.spec.volumeName.empty() || claim.metadata.deletionTimestamp || !name) return false;
    const auto storage_class = informers.storage_classes.store().get({"", *name});
    return storage_class && storage_class->volumeBindingMode != api::VolumeBindingMode::WaitForFirstConsumer;
}

// Returns until when the pod's volumes may bind by themselves; nullopt: they are bound, or it takes too long.
std::optional<api::Time> awaits_volumes_until(const api::Pod& pod, const Informers& informers,
                                              api::Time now) {
    std::optional<api::Time> until;
    const auto wait_from = [&](const api::ObjectMeta& created) {
        const api::Time end(created.creationTimestamp.value_or(api::Time()).at + kVolumePatience);
        if (now < end) until = until ? std::max(*until, end) : end;
    };
    for (const auto& volume : pod.spec.volumes) {
        const auto name = scheduling::claim_name_of(pod, volume);
        if (!name) continue;
        const auto claim = informers.persistent_volume_claims.store().get({pod.metadata.namespace_, *name});
        if (!claim)
            wait_from(pod.metadata);
        else if (binds_by_itself(*claim, informers))
            wait_from(claim->metadata);
    }
    return until;
}

}  // namespace

std::size_t say_what_is_missing(const ProvisioningDecision& decision, const Informers& informers,
                                Announcer& announcer, api::Time now) {
    std::set<std::string> talked_of;
    for (const auto& refused : decision.refused) {
        talked_of.insert(refused.pod->metadata.uid);
        if (awaits_volumes_until(*refused.pod, informers, now)) continue;
        announcer.say(kube::target_of(*refused.pod), kube::EventType::warning, "NoNodeForPod",
                      "no node can be created for the pod: " + joined(refused.reasons));
    }
    const auto unplaced = talked_of.size();
    for (const auto& launch : decision.launches) {
        if (launch.observed_by.empty()) continue;
        for (const auto claim : launch.claims)
            for (const auto* pod : decision.result.claims[claim].pods) {
                talked_of.insert(pod->metadata.uid);
                announcer.say(kube::target_of(*pod), kube::EventType::normal, "ObserveOnly",
                              "a machine of pool " + decision.world.pools[launch.pool].pool->metadata.name +
                                  " would be created for the pod, if spec.mode of control plane " +
                                  launch.observed_by + " were Active");
            }
    }
    for (const auto& daemon : decision.result.oversized_daemons) {
        const auto daemon_set = informers.daemon_sets.store().get({daemon.namespace_, daemon.name});
        if (!daemon_set) continue;
        talked_of.insert(daemon_set->metadata.uid);
        std::vector<std::string> pools;
        for (const auto pool : daemon.pools) pools.push_back(decision.world.snapshot.pools[pool].name);
        announcer.say(kube::target_of(*daemon_set), kube::EventType::warning, "FitsNoMachine",
                      "no machine of " + std::string(pools.size() == 1 ? "pool " : "pools ") + joined(pools) +
                          " is large enough for its pod, so machines are created without room for it: "
                          "request less, or select other nodes");
    }
    for (const auto& supply : decision.world.pools) talked_of.insert(supply.pool->metadata.uid);
    for (const auto& [key, control_plane] : informers.control_planes.store().all())
        talked_of.insert(control_plane->metadata.uid);
    announcer.keep(talked_of);
    return unplaced;
}

void say_cuts(const World& world, const scheduling::SolveResult& result, const Informers& informers,
              Announcer& announcer) {
    std::set<std::string> cut;
    for (const auto& one : result.cuts) {
        const auto& owner = world.budget_owners[one.budget];
        if (const auto pool = informers.pools.store().get(owner.pool)) {
            cut.insert(pool->metadata.uid);
            announcer.say(kube::target_of(*pool), kube::EventType::warning, "ScaleUpBlocked", one.message);
        } else if (const auto manager = informers.control_planes.store().get(owner.control_plane)) {
            cut.insert(manager->metadata.uid);
            announcer.say(kube::target_of(*manager), kube::EventType::warning, "ScaleUpBlocked", one.message);
        }
    }
    for (const auto& supply : world.pools)
        if (result.claims.empty() && !cut.contains(supply.pool->metadata.uid))
            announcer.settle(supply.pool->metadata.uid);
}

std::optional<api::Time> next_look(const ProvisioningDecision& decision, const Informers& informers,
                                   api::Time now) {
    std::optional<api::Time> next;
    const auto look_at = [&next](std::optional<api::Time> when) { next = kube::sooner(next, when); };
    const auto& result = decision.result;
    for (const auto& held : decision.demand.held_back) look_at(held.until);
    for (const auto& refused : decision.refused) look_at(awaits_volumes_until(*refused.pod, informers, now));
    look_at(decision.look_again);
    if (!decision.demand.pods.empty()) look_at(decision.freed.until);
    look_at(next_end_of_patience(informers, now));
    const bool something_is_missing =
        !result.unplaced.empty() || result.demand_unmet > 0 || !result.cuts.empty();
    if (!something_is_missing) return next;
    for (const auto& supply : decision.world.pools) {
        look_at(supply.gate.opens_at);
        look_at(supply.refused_until);
        for (const auto& taint : supply.undeclared_taints)
            if (is_expected(taint, now)) look_at(taint.nextRetryTime);
    }
    for (const auto& refusal : room_refusals(informers, now)) look_at(refusal.until);
    return next;
}

}  // namespace controllers::provisioning

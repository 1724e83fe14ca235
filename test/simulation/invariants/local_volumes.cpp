// Invariant: no machine is removed while its disk holds a bound volume, unless somebody allowed it. An
// annotation, the pool, or the deletion of the claim or pool can allow it.
#include <algorithm>

#include "test/simulation/invariants/invariant.hpp"
#include "test/simulation/local_data.hpp"

namespace simulation {
namespace {

constexpr const char* kLocalVolumesKept = "local volumes outlive no decision";
// Time for which a request that was sent before the volume existed may be under way.
constexpr std::chrono::minutes kOnItsWay{1};

bool says_disposable(const api::ObjectMeta& metadata) {
    const auto* value = api::find(metadata.annotations, api::annotations::kLocalData);
    return value && *value == "Disposable";
}

class LocalVolumesAreKept final : public Invariant {
public:
    explicit LocalVolumesAreKept(const Stage& stage) : Invariant(stage) {
        world_.observe([this](const Process& process, const base::HttpRequest& request,
                              const base::HttpResponse& response) {
            static const std::string kClaims = "/nodesmithclaims/";
            const auto at = request.target.find(kClaims);
            if (request.method != "DELETE" || response.status != 200 || at == std::string::npos) return;
            const auto name = request.target.substr(at + kClaims.size());
            const auto* claim =
                world_.view.find<NodeSmithClaim>({kNodesNamespace, name.substr(0, name.find('?'))});
            if (claim) check(*claim, process.name() + " deletes claim " + claim->metadata.name);
        });
        world_.observe([this](const proxmox::RequestRecord& request) {
            const auto vmid = vmid_of(request.path);
            if (request.method != "DELETE" || request.status != 200 || !vmid) return;
            const auto& machines = world_.proxmox.cluster().world.machines;
            const auto machine = machines.find(*vmid);
            const auto mark =
                machine == machines.end() ? std::nullopt : world_.administrators.mark_of(machine->second);
            const auto* claim = mark ? world_.view.claim_by_uid(mark->claim_uid) : nullptr;
            // A machine whose claim was deleted was judged at that deletion.
            if (claim && !claim->metadata.deletionTimestamp)
                check(*claim, "machine " + std::to_string(*vmid) + " is destroyed");
        });
    }

private:
    // Reports whether the user allowed the loss of the volumes.
    bool is_allowed(const NodeSmithClaim& claim) const {
        const auto& deeds = stage_.deeds;
        const auto& uid = claim.metadata.uid;
        const auto* pool = world_.view.find<NodeSmithPool>({claim.metadata.namespace_, claim.spec.poolRef});
        if (!pool || pool->metadata.deletionTimestamp || deeds.deleted_pools.contains(claim.spec.poolRef))
            return true;
        if (pool->spec.disruption.localVolumes == api::v1alpha1::LocalVolumesPolicy::Discard) return true;
        if (stage_.was_deleted_by_others(uid) || deeds.stated_gone.contains(uid) ||
            deeds.claims_without_finalizer.contains(uid))
            return true;
        const auto* decision = api::find(claim.metadata.annotations, api::annotations::kLocalVolumes);
        return decision && *decision == "discard";
    }

    // Reports whether the machine is released with its disk instead of removed.
    static bool is_released(const NodeSmithClaim& claim) {
        return claim.spec.deletionPolicy == api::v1alpha1::DeletionPolicy::Retain &&
               api::is_true(claim.status.conditions, api::conditions::kRegistered);
    }

    // Reports whether the disk is already gone.
    static bool is_vanished(const NodeSmithClaim& claim) {
        const auto* deleted = api::find_condition(claim.status.conditions, api::conditions::kMachineDeleted);
        return deleted && deleted->status == api::ConditionStatus::True;
    }

    bool is_held(const api::PersistentVolume& volume) const {
        if (volume.status.phase != "Bound" || !volume.metadata.creationTimestamp) return false;
        if (world_.clock.wall_now() - volume.metadata.creationTimestamp->at < kOnItsWay) return false;
        const auto* storage_class = world_.view.find<api::StorageClass>({"", volume.spec.storageClassName});
        if (storage_class && says_disposable(storage_class->metadata)) return false;
        const auto& owner = *volume.spec.claimRef;
        const auto* claim = world_.view.find<api::PersistentVolumeClaim>({owner.namespace_, owner.name});
        return claim && !says_disposable(claim->metadata) && !api::controller_of(claim->metadata);
    }

    void check(const NodeSmithClaim& claim, const std::string& what) const {
        const auto& node = claim.status.nodeName;
        if (node.empty() || is_vanished(claim) || is_released(claim) || is_allowed(claim)) return;
        for (const auto& [key, volume] : world_.view.all<api::PersistentVolume>()) {
            const auto* only_on = api::find(volume->metadata.labels, kOnlyOn);
            if (!only_on || *only_on != node || !is_held(*volume)) continue;
            stage_.violate(kLocalVolumesKept, what + " while volume " + key.name +
                                                  " is bound on the disk of its Node " + node +
                                                  ", and nobody allowed it");
        }
    }
};

}  // namespace

std::unique_ptr<Invariant> local_volumes_are_kept(const Stage& stage) {
    return std::make_unique<LocalVolumesAreKept>(stage);
}

}  // namespace simulation

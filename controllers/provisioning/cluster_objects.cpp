#include "controllers/provisioning/cluster_objects.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "controllers/cache/released_volumes.hpp"
#include "kube/controller.hpp"

namespace controllers::provisioning {

namespace {

// Returns from when on the place of an attachment without pods counts as taken. Until then it counts as free,
// so that no machine is launched for it.
api::Time hangs_from(const api::VolumeAttachment& attachment, const Informers& informers) {
    const auto& spec = attachment.spec;
    const auto volume = informers.persistent_volumes.store().get({"", spec.source.persistentVolumeName});
    const auto claim = volume && volume->spec.claimRef
                           ? kube::ObjectKey(volume->spec.claimRef->namespace_, volume->spec.claimRef->name)
                           : kube::ObjectKey();
    // The attach-detach controller begins once the kubelet has unmounted the volume. So a detachment that
    // hangs is known to a new operator, too.
    const auto& deletion = attachment.metadata.deletionTimestamp;
    const auto released = deletion ? *deletion : informers.released_volumes.released(spec.nodeName, claim);
    return api::Time(released.at + ReleasedVolumes::kDetachPatience);
}

std::vector<std::shared_ptr<const api::VolumeAttachment>> lasting_attachments(const Informers& informers,
                                                                              api::Time now) {
    auto attachments = informers.volume_attachments.store().values();
    std::erase_if(attachments,
                  [&](const auto& attachment) { return hangs_from(*attachment, informers) > now; });
    return attachments;
}

}  // namespace

void add_cluster_objects(scheduling::Snapshot& snapshot, const Informers& informers, api::Time now) {
    snapshot.daemon_sets = informers.daemon_sets.store().values();
    snapshot.namespaces = informers.namespaces.store().values();
    snapshot.limit_ranges = informers.limit_ranges.store().values();
    snapshot.runtime_classes = informers.runtime_classes.store().values();
    snapshot.returning = informers.request_history.returning(informers.pods.store());
    auto& volumes = snapshot.volumes;
    volumes.claims = informers.persistent_volume_claims.store().values();
    volumes.volumes = informers.persistent_volumes.store().values();
    volumes.classes = informers.storage_classes.store().values();
    volumes.drivers = informers.csi_drivers.store().values();
    volumes.capacities = informers.csi_storage_capacities.store().values();
    volumes.attachments = lasting_attachments(informers, now);
}

void note_declared_features(scheduling::Snapshot& snapshot) {
    std::map<std::size_t, const api::Node*> youngest;
    for (const auto& node : snapshot.nodes) {
        const bool shows_new_ones =
            node.availability == scheduling::Availability::ready && node.pool && node.is_of_present_template;
        if (!shows_new_ones) continue;
        auto& found = youngest[*node.pool];
        if (!found || found->metadata.creationTimestamp < node.node->metadata.creationTimestamp)
            found = node.node.get();
    }
    for (const auto& [pool, node] : youngest)
        snapshot.pools[pool].declared_features = node->status.declaredFeatures;
}

std::optional<api::Time> next_hanging_detachment(const Informers& informers, api::Time now) {
    std::optional<api::Time> next;
    for (const auto& [key, attachment] : informers.volume_attachments.store().all())
        if (const auto from = hangs_from(*attachment, informers); from > now) next = kube::sooner(next, from);
    return next;
}

}  // namespace controllers::provisioning

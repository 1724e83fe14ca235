#include "controllers/claim/wakes.hpp"

#include <iterator>

#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/claim/facts/local_volumes.hpp"
#include "kube/watches.hpp"

namespace controllers::claim {

namespace {

// Concerned finds the claims that a changed object may concern.
class Concerned {
public:
    explicit Concerned(const Informers& informers) : claims_(informers.claims.store()) {}

    kube::Keys on_node(const std::string& node) const { return by_index(kClaimsByNode, node); }

    kube::Keys of_node(const api::Node& node) const {
        const auto& uuid = node.status.nodeInfo.systemUUID;
        const auto swapped = byte_swapped(uuid);
        auto keys = by_index(kClaimsBySystemUuid, byte_swapped(swapped));  // in lower case
        add(keys, by_index(kClaimsBySystemUuid, swapped));
        add(keys, by_index(kClaimsByNode, node.metadata.name));
        add(keys, by_index(kClaimsByName, node.metadata.name));
        const auto* label = api::find(node.metadata.labels, api::labels::kClaim);
        if (label) add(keys, by_index(kClaimsByName, *label));
        return keys;
    }

    kube::Keys of_name(const std::string& name) const { return by_index(kClaimsByName, name); }

    // Pods change constantly, so only claims that are being drained are returned.
    kube::Keys drained_of(const api::Pod& pod) const {
        kube::Keys keys;
        if (pod.spec.nodeName.empty()) return keys;
        for (const auto& claim : claims_.by_index(kClaimsByNode, pod.spec.nodeName)) {
            const bool drains = api::find_condition(claim->status.conditions, conditions::kDrained);
            if (drains || claim->metadata.deletionTimestamp) keys.push_back(api::key_of(*claim));
        }
        return keys;
    }

    // Returns only claims that are starting or ending, and those whose Node has undeclared taints.
    template <class Predicate>
    kube::Keys moving(Predicate concerns) const {
        return kube::keys_of(claims_, [&concerns](const NodeSmithClaim& claim) {
            const bool settled = is_true(claim, conditions::kReady) && !claim.metadata.deletionTimestamp &&
                                 claim.status.undeclaredTaints.empty();
            return !settled && concerns(claim);
        });
    }

private:
    kube::Keys by_index(const char* index, const std::string& value) const {
        return value.empty() ? kube::Keys() : kube::keys_of(claims_.by_index(index, value));
    }
    static void add(kube::Keys& keys, kube::Keys more) { std::ranges::move(more, std::back_inserter(keys)); }

    const kube::Store<NodeSmithClaim>& claims_;
};

bool has_kept_machine(const NodeSmithClaim& claim) {
    return claim.status.keptSince.has_value();
}

bool are_of_one_pool(const NodeSmithClaim& a, const NodeSmithClaim& b) {
    return a.spec.poolRef == b.spec.poolRef && a.metadata.namespace_ == b.metadata.namespace_;
}

// Wakes other claims of the pool. A claim that ends or fails may leave room within the limits. A claim whose
// machine is kept takes the place of another one.
void wake_for_claims(Informers& informers, kube::WorkQueue& queue, const Writer& writer,
                     const Concerned& concerned) {
    kube::watch(informers.claims)
        .became(has_kept_machine)
        .enqueue(queue, [concerned](const NodeSmithClaim& claim) {
            return concerned.moving([&claim](const NodeSmithClaim& other) {
                return has_kept_machine(other) && are_of_one_pool(claim, other);
            });
        });
    const auto news = kube::watch(informers.claims).when([&writer](const NodeSmithClaim&) {
        return !writer.is_recording();
    });
    news.enqueue(queue);
    // The name becomes free for a claim of another namespace.
    news.gone().enqueue(
        queue, [concerned](const NodeSmithClaim& claim) { return concerned.of_name(claim.metadata.name); });
    news.gone().enqueue(queue, [concerned](const NodeSmithClaim& claim) {
        return concerned.moving([&claim](const NodeSmithClaim& other) {
            return are_of_one_pool(claim, other) &&
                   has_reason(other.status, conditions::kLaunched, reasons::kLimitExceeded);
        });
    });
}

void wake_for_nodes(Informers& informers, kube::WorkQueue& queue, const Concerned& concerned) {
    const auto of_node = [concerned](const api::Node& node) { return concerned.of_node(node); };
    kube::watch(informers.nodes).enqueue(queue, of_node);
    // The Node may have looked like another claim's until now, and that claim waited for it.
    const auto shown = [](const api::Node& node) {
        const auto* label = api::find(node.metadata.labels, api::labels::kClaim);
        return std::pair(node.status.nodeInfo.systemUUID, label ? *label : std::string());
    };
    kube::watch(informers.nodes).changed(shown).before_too().enqueue(queue, of_node);
    // The claim's status records the IDs of CSI drivers.
    kube::watch(informers.csi_nodes).enqueue(queue, [concerned](const api::CSINode& csi) {
        return concerned.on_node(csi.metadata.name);
    });
    kube::watch(informers.pods).enqueue(queue, [concerned](const api::Pod& pod) {
        return concerned.drained_of(pod);
    });
    kube::watch(informers.volume_attachments)
        .enqueue(queue, [concerned](const api::VolumeAttachment& attachment) {
            return concerned.on_node(attachment.spec.nodeName);
        });
}

// Wakes claims whose machine is kept for volumes on its disk. Its removal waits until the volumes or
// their claims are gone or given up.
void wake_for_volumes(Informers& informers, kube::WorkQueue& queue) {
    const auto kept = [&claims = informers.claims.store()](const auto&) {
        return kube::keys_of(claims, is_kept_for_volumes);
    };
    kube::watch(informers.persistent_volumes).changed(decides_on_volume).enqueue(queue, kept);
    kube::watch(informers.persistent_volume_claims).changed(decides_on_data).enqueue(queue, kept);
    kube::watch(informers.storage_classes).changed(decides_on_class).enqueue(queue, kept);
    kube::watch(informers.pools).changed(kube::kGeneration).enqueue(queue, kept);
}

bool is_provider_ready(const NodeSmithProvider& provider) {
    return api::is_true(provider.status.conditions, conditions::kReady);
}

void wake_for_configuration(Informers& informers, kube::WorkQueue& queue, const Concerned& concerned) {
    using namespace api::v1alpha1;
    const auto is_of = [](const auto& object, const NodeSmithClaim& claim, const std::string& name) {
        return claim.metadata.namespace_ == object.metadata.namespace_ && name == object.metadata.name;
    };
    kube::watch(informers.pools)
        .changed(kube::kGeneration)
        .enqueue(queue, [concerned, is_of](const NodeSmithPool& pool) {
            return concerned.moving(
                [&](const NodeSmithClaim& claim) { return is_of(pool, claim, claim.spec.poolRef); });
        });
    kube::watch(informers.providers)
        .changed(kube::kGeneration, is_provider_ready)
        .enqueue(queue, [concerned, is_of](const NodeSmithProvider& provider) {
            return concerned.moving([&](const NodeSmithClaim& claim) {
                return is_of(provider, claim, claim.status.providerRef);
            });
        });
    kube::watch(informers.control_planes)
        .changed(kube::kGeneration)
        .enqueue(queue, [concerned](const NodeSmithControlPlane& control_plane) {
            return concerned.moving(kube::in_namespace(control_plane.metadata.namespace_));
        });
}

}  // namespace

void wake_claims(Informers& informers, kube::WorkQueue& queue, const Writer& writer) {
    const Concerned concerned(informers);
    wake_for_claims(informers, queue, writer, concerned);
    wake_for_nodes(informers, queue, concerned);
    wake_for_volumes(informers, queue);
    wake_for_configuration(informers, queue, concerned);
}

}  // namespace controllers::claim

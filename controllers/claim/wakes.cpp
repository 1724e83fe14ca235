#include "controllers/claim/wakes.hpp"

#include "controllers/state/claim_state.hpp"
#include "controllers/state/identity.hpp"

namespace controllers::claim {

namespace {

class Waker {
public:
    Waker(Informers& informers, kube::WorkQueue& queue) : informers_(informers), queue_(queue) {}

    void by_index(const char* index, const std::string& value) const {
        if (value.empty()) return;
        for (const auto& claim : informers_.claims.store().by_index(index, value))
            queue_.add(api::key_of(*claim));
    }

    void node(const api::Node& node) const {
        const auto& uuid = node.status.nodeInfo.systemUUID;
        const auto swapped = byte_swapped(uuid);
        by_index(kClaimsBySystemUuid, byte_swapped(swapped));  // in lower case
        by_index(kClaimsBySystemUuid, swapped);
        by_index(kClaimsByNode, node.metadata.name);
        by_index(kClaimsByName, node.metadata.name);
        const auto* label = api::find(node.metadata.labels, api::labels::kClaim);
        if (label) by_index(kClaimsByName, *label);
    }

    // Pods come and go all the time: only a drain wants to know.
    void leaving(const std::string& node) const {
        if (node.empty()) return;
        for (const auto& claim : informers_.claims.store().by_index(kClaimsByNode, node)) {
            const bool drains = api::find_condition(claim->status.conditions, api::conditions::kDrained);
            if (drains || claim->metadata.deletionTimestamp) queue_.add(api::key_of(*claim));
        }
    }

    // Only claims on their way in or out care; those in service don't.
    template <class Predicate>
    void moving(Predicate concerns) const {
        for (const auto& [key, claim] : informers_.claims.store().all()) {
            const bool settled =
                is_true(*claim, api::conditions::kReady) && !claim->metadata.deletionTimestamp;
            if (!settled && concerns(*claim)) queue_.add(key);
        }
    }

private:
    Informers& informers_;
    kube::WorkQueue& queue_;
};

// A claim that ends or fails may leave room within the limits, and one whose machine is kept takes the place
// of another.
void wake_for_claims(Informers& informers, kube::WorkQueue& queue, const Writer& writer, const Waker& waker) {
    informers.claims.on_change(
        [&queue, &writer, waker](const NodeSmithClaim* before, const NodeSmithClaim* after) {
            const bool is_kept_from_now =
                after && after->status.keptSince && !(before && before->status.keptSince);
            if (is_kept_from_now)
                waker.moving([after](const NodeSmithClaim& other) {
                    return other.status.keptSince && other.spec.poolRef == after->spec.poolRef &&
                           other.metadata.namespace_ == after->metadata.namespace_;
                });
            if (writer.is_recording()) return;
            queue.add(api::key_of(after ? *after : *before));
            if (after) return;
            waker.moving([before](const NodeSmithClaim& other) {
                return other.spec.poolRef == before->spec.poolRef &&
                       other.metadata.namespace_ == before->metadata.namespace_ &&
                       has_reason(other.status, api::conditions::kLaunched, reasons::kLimitExceeded);
            });
        });
}

void wake_for_nodes(Informers& informers, const Waker& waker) {
    informers.nodes.on_change(
        [waker](const api::Node* before, const api::Node* after) { waker.node(after ? *after : *before); });
    informers.pods.on_change([waker](const api::Pod* before, const api::Pod* after) {
        waker.leaving((after ? after : before)->spec.nodeName);
    });
    informers.volume_attachments.on_change(
        [waker](const api::VolumeAttachment* before, const api::VolumeAttachment* after) {
            waker.by_index(kClaimsByNode, (after ? after : before)->spec.nodeName);
        });
}

void wake_for_configuration(Informers& informers, const Waker& waker) {
    informers.pools.on_change([waker](const NodeSmithPool* before, const NodeSmithPool* after) {
        if (before && after && before->metadata.generation == after->metadata.generation) return;
        const auto key = api::key_of(after ? *after : *before);
        waker.moving([&key](const NodeSmithClaim& claim) {
            return claim.metadata.namespace_ == key.namespace_ && claim.spec.poolRef == key.name;
        });
    });
    using api::v1alpha1::NodeSmithProvider;
    informers.providers.on_change([waker](const NodeSmithProvider* before, const NodeSmithProvider* after) {
        const auto became_ready = [](const NodeSmithProvider* p) {
            return p && api::is_true(p->status.conditions, api::conditions::kReady);
        };
        const bool same = before && after && before->metadata.generation == after->metadata.generation &&
                          became_ready(before) == became_ready(after);
        if (same) return;
        const auto key = api::key_of(after ? *after : *before);
        waker.moving([&key](const NodeSmithClaim& claim) {
            return claim.metadata.namespace_ == key.namespace_ && claim.status.providerRef == key.name;
        });
    });
    using api::v1alpha1::NodeSmithControlPlane;
    informers.control_planes.on_change(
        [waker](const NodeSmithControlPlane* before, const NodeSmithControlPlane* after) {
            if (before && after && before->metadata.generation == after->metadata.generation) return;
            const auto namespace_ = (after ? after : before)->metadata.namespace_;
            waker.moving([&namespace_](const NodeSmithClaim& claim) {
                return claim.metadata.namespace_ == namespace_;
            });
        });
}

}  // namespace

void wake_claims(Informers& informers, kube::WorkQueue& queue, const Writer& writer) {
    const Waker waker(informers, queue);
    wake_for_claims(informers, queue, writer, waker);
    wake_for_nodes(informers, waker);
    wake_for_configuration(informers, waker);
}

}  // namespace controllers::claim

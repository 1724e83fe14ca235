// Takes off objects what is read for no decision: others may write as much of it as they like.
#pragma once

#include "api/core.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers {

// Each takes off what is not read: annotations that are not for us, labels that nothing selects by,
// finalizers, and owners that do not control the object. Of a pod also volumes that tie it to nothing,
// conditions that hold, and of its status the resources, which repeat its spec unless it is resized in place.
void forget_unread(api::Pod& pod);
// All annotations stay, as pools may state any.
void forget_unread(api::Node& node);
void forget_unread(api::DaemonSet& daemon_set);
void forget_unread(api::Namespace& namespace_);
void forget_unread(api::LimitRange& limits);
void forget_unread(api::RuntimeClass& runtime_class);
void forget_unread(api::PersistentVolume& volume);
void forget_unread(api::PersistentVolumeClaim& claim);
void forget_unread(api::StorageClass& storage_class);
void forget_unread(api::CSIDriver& driver);
void forget_unread(api::CSIStorageCapacity& capacity);
void forget_unread(api::CSINode& node);
void forget_unread(api::VolumeAttachment& attachment);
void forget_unread(api::PodDisruptionBudget& budget);
// It keeps who asks; what is asked for is read when it is judged. If the request was decided, it keeps only
// that.
void forget_unread(api::CertificateSigningRequest& request);
// Objects of ours lose only the annotations that other tools write.
void forget_unread(NodeSmithProvider& provider);
void forget_unread(NodeSmithPool& pool);
void forget_unread(NodeSmithClaim& claim);
void forget_unread(NodeSmithControlPlane& control_plane);
void forget_unread(NodeSmithHost& host);

}  // namespace controllers

// Removes the parts of objects that no decision reads, since other programs may write any amount of them.
#pragma once

#include "api/core.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers {

// Each function removes the parts that are not read. These are foreign annotations, labels that
// nothing selects by, finalizers, and owners that do not control the object. A pod also loses
// volumes that do not bind it and conditions that hold. Its status loses the resources, which repeat
// its spec unless it is resized in place.
void forget_unread(api::Pod& pod);
// Keeps all annotations, because pools may declare any.
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
// Keeps only the requester, or the decision once there is one. The approver reads the
// request itself when it judges it.
void forget_unread(api::CertificateSigningRequest& request);
// Our own objects lose only annotations of other tools.
void forget_unread(NodeSmithProvider& provider);
void forget_unread(NodeSmithPool& pool);
void forget_unread(NodeSmithClaim& claim);
void forget_unread(NodeSmithControlPlane& control_plane);
void forget_unread(NodeSmithHost& host);

}  // namespace controllers

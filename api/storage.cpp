#include "api/storage.hpp"

#include "api/describe.hpp"
#include "api/external_types.hpp"

namespace api {

BOOST_DESCRIBE_STRUCT(PersistentVolumeClaimStatus, (), (phase))
BOOST_DESCRIBE_STRUCT(PersistentVolumeClaim, (), (metadata, spec, status))
BOOST_DESCRIBE_STRUCT(VolumeNodeAffinity, (), (required))
BOOST_DESCRIBE_STRUCT(CSIPersistentVolumeSource, (), (driver))
BOOST_DESCRIBE_STRUCT(ObjectReference, (), (apiVersion, kind, namespace_, name, uid, resourceVersion))
BOOST_DESCRIBE_STRUCT(PersistentVolumeSpec, (),
                      (accessModes, capacity, storageClassName, volumeMode, persistentVolumeReclaimPolicy,
                       claimRef, nodeAffinity, csi))
BOOST_DESCRIBE_STRUCT(PersistentVolumeStatus, (), (phase))
BOOST_DESCRIBE_STRUCT(PersistentVolume, (), (metadata, spec, status))
BOOST_DESCRIBE_STRUCT(TopologySelectorLabelRequirement, (), (key, values))
BOOST_DESCRIBE_STRUCT(TopologySelectorTerm, (), (matchLabelExpressions))
BOOST_DESCRIBE_ENUM(VolumeBindingMode, Immediate, WaitForFirstConsumer, Unrecognized)
BOOST_DESCRIBE_STRUCT(StorageClass, (), (metadata, provisioner, volumeBindingMode, allowedTopologies))
BOOST_DESCRIBE_STRUCT(CSIDriverSpec, (), (storageCapacity, preventPodSchedulingIfMissing))
BOOST_DESCRIBE_STRUCT(CSIDriver, (), (metadata, spec))
BOOST_DESCRIBE_STRUCT(CSIStorageCapacity, (),
                      (metadata, storageClassName, nodeTopology, capacity, maximumVolumeSize))
BOOST_DESCRIBE_STRUCT(VolumeNodeResources, (), (count))
BOOST_DESCRIBE_STRUCT(CSINodeDriver, (), (name, nodeID, topologyKeys, allocatable))
BOOST_DESCRIBE_STRUCT(CSINodeSpec, (), (drivers))
BOOST_DESCRIBE_STRUCT(CSINode, (), (metadata, spec))
BOOST_DESCRIBE_STRUCT(VolumeAttachmentSource, (), (persistentVolumeName))
BOOST_DESCRIBE_STRUCT(VolumeAttachmentSpec, (), (nodeName, source))
BOOST_DESCRIBE_STRUCT(VolumeAttachmentStatus, (), (attached))
BOOST_DESCRIBE_STRUCT(VolumeAttachment, (), (metadata, spec, status))

template const Type& type_of<PersistentVolumeClaim>();
template const Type& type_of<PersistentVolume>();
template const Type& type_of<ObjectReference>();
template const Type& type_of<StorageClass>();
template const Type& type_of<CSIDriver>();
template const Type& type_of<CSIStorageCapacity>();
template const Type& type_of<CSINode>();
template const Type& type_of<VolumeAttachment>();

}  // namespace api

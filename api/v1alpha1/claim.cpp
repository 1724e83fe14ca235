#include "api/v1alpha1/claim.hpp"

#include "api/v1alpha1/external_types.hpp"

namespace api::v1alpha1 {

BOOST_DESCRIBE_STRUCT(ClaimSpec, (),
                      (poolRef, requirements, extendedResources, zone, labels, taints, startupTaints,
                       deletionPolicy, expireAfter, terminationGracePeriod, idempotencyKey))
BOOST_DESCRIBE_ENUM(ClaimPhase, Pending, Launching, Registering, Initializing, Ready, Draining, Terminating,
                    Failed, Unrecognized)
BOOST_DESCRIBE_STRUCT(ClaimFailure, (), (reason, message, host, time, refused))
BOOST_DESCRIBE_STRUCT(ClaimBoot, (), (delivery, apiServer, startedTime, fetchedTime, agentTime, addresses))
BOOST_DESCRIBE_STRUCT(ClaimInterface, (), (name, macAddress))
BOOST_DESCRIBE_STRUCT(ContestedLabel, (), (key, effect, value, found, manager, count, time))
BOOST_DESCRIBE_STRUCT(VolumePlace, (), (driver, key, value))
BOOST_DESCRIBE_STRUCT(ClaimStatus, (),
                      (observedGeneration, conditions, phase, size, providerRef, host, zone, machineID,
                       systemUUID, providerID, cluster, taskRef, launchAttempts, excusedAttempts, hasRun,
                       failedHosts, nextRetryTime, lastFailure, waitsForRoomSince, addresses,
                       networkInterfaces, boot, keptSince, bootstrapTokenID, bootstrapKeySHA256, templateHash,
                       templateRevision, nodeName, capacity, allocatable, volumePlaces, undeclaredTaints,
                       emptySince, unneededSince, lastPodEventTime, contestedLabels, disruptionCause,
                       undoneDisruption))
BOOST_DESCRIBE_STRUCT(NodeSmithClaim, (), (metadata, spec, status))

}  // namespace api::v1alpha1

namespace api {

template const Type& type_of<v1alpha1::ClaimPhase>();
template const Type& type_of<v1alpha1::NodeSmithClaim>();

}  // namespace api

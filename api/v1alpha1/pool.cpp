#include "api/v1alpha1/pool.hpp"

#include "api/v1alpha1/external_types.hpp"

namespace api::v1alpha1 {

BOOST_DESCRIBE_STRUCT(NamedSize, (), (name, cpuCores, memoryMiB))
BOOST_DESCRIBE_STRUCT(CpuRange, (), (min, max, step))
BOOST_DESCRIBE_STRUCT(MemoryRange, (), (min, max, step))
BOOST_DESCRIBE_STRUCT(FlexibleSize, (), (cpuCores, memoryMiB))
BOOST_DESCRIBE_STRUCT(SystemReserved, (), (cpuMillicores, memoryMiB))
BOOST_DESCRIBE_STRUCT(MachinePrice, (), (cpuCore, memoryGiB, machine))
BOOST_DESCRIBE_STRUCT(MachineTemplate, (),
                      (labels, annotations, taints, startupTaints, kubeNodeNamePrefix, architecture, sizes,
                       flexible, systemReserved, extendedResources, volumeLimits, storageCapacity, price,
                       network))

BOOST_DESCRIBE_STRUCT(PoolLimits, (), (minNodes, maxNodes, cpuCores, memoryMiB))
BOOST_DESCRIBE_STRUCT(Retry, (), (initialBackoff, maxBackoff))
BOOST_DESCRIBE_STRUCT(Headroom, (), (cpuCores, memoryMiB, nodes))
BOOST_DESCRIBE_STRUCT(ScaleUp, (),
                      (stabilizationWindow, batchSize, maxConcurrent, provisionTimeout, registrationTimeout,
                       initializationTimeout, undeclaredTaintTimeout, maxLaunchAttempts, keepFailed, retry,
                       headroom))
BOOST_DESCRIBE_ENUM(ScaleDownPolicy, WhenEmptyOrUnderutilized, WhenEmpty, Never, Unrecognized)
BOOST_DESCRIBE_ENUM(DrainTimeoutAction, Abort, Force, Unrecognized)
BOOST_DESCRIBE_STRUCT(ScaleDown, (),
                      (policy, stabilizationWindow, unneededDuration, emptyGracePeriod, minNodeAge,
                       utilizationThresholdPercent, priceThresholdPercent, headroomPercent, maxConcurrent,
                       drainTimeout, drainTimeoutAction, volumeDetachTimeout, delayAfterDelete,
                       delayAfterFailure))
BOOST_DESCRIBE_ENUM(DriftPolicy, Replace, Ignore, Unrecognized)
BOOST_DESCRIBE_ENUM(LocalVolumesPolicy, Keep, Discard, Unrecognized)
BOOST_DESCRIBE_ENUM(EmptyDirPolicy, Evict, Keep, Unrecognized)
BOOST_DESCRIBE_ENUM(RepairAction, Replace, PowerCycleThenReplace, None, Unrecognized)
BOOST_DESCRIBE_ENUM(DisruptionReason, Empty, Underutilized, Drifted, Expired, Unhealthy, Evacuation,
                    Unrecognized)
BOOST_DESCRIBE_STRUCT(Repair, (), (notReadyFor, maxUnhealthyPercent, action))
BOOST_DESCRIBE_STRUCT(DisruptionBudget, (), (nodes, reasons, schedule, duration))
BOOST_DESCRIBE_STRUCT(Disruption, (), (drift, expireAfter, localVolumes, emptyDir, repair, budgets))
BOOST_DESCRIBE_STRUCT(PoolSpec, (),
                      (providerRef, poolLabelKey, deletionPolicy, weight, limits, machineTemplate, bootstrap,
                       scaleUp, scaleDown, disruption))

BOOST_DESCRIBE_STRUCT(PoolClaims, (), (pending, ready, failed, deleting))
BOOST_DESCRIBE_STRUCT(AddressReservation, (), (address, claim, interface))
BOOST_DESCRIBE_STRUCT(Misprediction, (), (podUID, pod, kind, count, nextRetryTime))
BOOST_DESCRIBE_STRUCT(LearnedOffer, (), (templateHash, pods, ephemeralStorageMiB))
BOOST_DESCRIBE_STRUCT(LearnedDaemonSet, (),
                      (namespace_, name, uid, templateGeneration, cpuMillicores, memoryMiB, templateHash,
                       expires))
BOOST_DESCRIBE_STRUCT(LearnedVolumeLimit, (), (driver, count, templateHash, expires))
BOOST_DESCRIBE_STRUCT(KeptMachine, (), (claim, host, machineID, message, time))
BOOST_DESCRIBE_STRUCT(Losses, (),
                      (count, rounds, since, lastTime, sequence, nextRetryTime, reason, message, claims))
BOOST_DESCRIBE_STRUCT(UndeclaredTaint, (), (key, value, effect, count, nextRetryTime))
BOOST_DESCRIBE_STRUCT(PoolContestedLabel, (), (key, effect, value, found, manager, node, time))
BOOST_DESCRIBE_STRUCT(OpenReplacement, (), (claim, cause, count, time))
BOOST_DESCRIBE_STRUCT(RecentRemoval, (), (claim, time))
BOOST_DESCRIBE_STRUCT(ReplacementPause, (), (count, nextRetryTime))
BOOST_DESCRIBE_STRUCT(PoolStatus, (),
                      (observedGeneration, conditions, nodes, readyNodes, pendingNodes, claims, cpuCores,
                       memoryMiB, learnedReserved, learnedOffer, learnedTemplateHash, learnedExpires,
                       learnedDaemonSets, learnedVolumeLimits, nextClaimSequence, reserved, addresses,
                       lastPlacedHost, lastScaleActivity, lastScaleUpTime, lastScaleDownTime,
                       lastScaleFailureTime, consecutiveFailures, lastFailureRefused, failedConfiguration,
                       nextRetryTime, mispredictions, keptMachine, losses, undeclaredTaints, contestedLabels,
                       openReplacements, recentRemovals, replacementPause))
BOOST_DESCRIBE_STRUCT(NodeSmithPool, (), (metadata, spec, status))

}  // namespace api::v1alpha1

namespace api {

template const Type& type_of<v1alpha1::MachineTemplate>();
template const Type& type_of<v1alpha1::NodeSmithPool>();

}  // namespace api

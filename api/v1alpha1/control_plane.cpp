#include "api/v1alpha1/control_plane.hpp"

#include "api/v1alpha1/external_types.hpp"

namespace api::v1alpha1 {

BOOST_DESCRIBE_ENUM(Mode, Active, Observe, Paused, Unrecognized)
BOOST_DESCRIBE_ENUM(Preferences, WhereFree, Respect, Unrecognized)
BOOST_DESCRIBE_STRUCT(RateLimits, (), (maxCreationsPerHour, maxRemovalsPerHour))
BOOST_DESCRIBE_STRUCT(Batching, (), (idleDuration, maxDuration))
BOOST_DESCRIBE_STRUCT(ControlPlaneLimits, (), (maxNodes, cpuCores, memoryMiB))
BOOST_DESCRIBE_STRUCT(ClusterHealth, (), (maxUnreadyPercent, okUnreadyCount))
BOOST_DESCRIBE_STRUCT(ControlPlaneSpec, (),
                      (pools, mode, rateLimits, batching, limits, health, ignorePodsBelowPriority, nominate,
                       preferences, bootstrap))
BOOST_DESCRIBE_STRUCT(ControlPlaneStatus, (),
                      (observedGeneration, conditions, lastSyncTime, pools, nodes, readyNodes, pendingNodes,
                       claims, reserved))
BOOST_DESCRIBE_STRUCT(NodeSmithControlPlane, (), (metadata, spec, status))

}  // namespace api::v1alpha1

namespace api {

template const Type& type_of<v1alpha1::Mode>();
template const Type& type_of<v1alpha1::NodeSmithControlPlane>();

}  // namespace api

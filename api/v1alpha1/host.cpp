#include "api/v1alpha1/host.hpp"

#include "api/names.hpp"
#include "api/v1alpha1/external_types.hpp"

namespace api::v1alpha1 {

BOOST_DESCRIBE_STRUCT(BmcDetails, (), (address, systemID, credentialsSecretRef, tls))
BOOST_DESCRIBE_STRUCT(HostCapacity, (), (cpuCores, memoryMiB, extended))
BOOST_DESCRIBE_STRUCT(HostSpec, (),
                      (providerRef, bmc, bootMACAddress, nodeName, systemUUID, capacity, labels, taints,
                       priority, maintenance, quirks))
BOOST_DESCRIBE_STRUCT(HostDisks, (), (kind, sizeGB, count))
BOOST_DESCRIBE_STRUCT(HostPorts, (), (speedMbps, count))
BOOST_DESCRIBE_STRUCT(HostAccelerators, (), (kind, model, count))
BOOST_DESCRIBE_STRUCT(RefusedCredentials, (), (secret, time, count, retry))
BOOST_DESCRIBE_STRUCT(ClaimReference, (), (name, uid))
BOOST_DESCRIBE_ENUM(HostPhase, Discovering, Available, Reserved, PoweringOn, Joining, InUse, Draining,
                    PoweringOff, Wiping, Quarantined, Foreign, Maintenance, Unrecognized)
BOOST_DESCRIBE_STRUCT(HostStatus, (),
                      (observedGeneration, conditions, claimRef, phase, powerState, health, systemUUID,
                       serialNumber, model, biosVersion, bmcVersion, architecture, macs, capacity,
                       accelerators, failures, lastFailure, nextRetryTime, wokenTime, bootPrepared, erasures,
                       lastErasureTime, wakeSeconds, powerWatts, disks, diskSummary, ports, portSummary,
                       refusedCredentials, acceptedCredentials, sessionServiceDisabled, failedLooks,
                       protectedSecret, nodeUID))
BOOST_DESCRIBE_STRUCT(NodeSmithHost, (), (metadata, spec, status))

bool is_adoptable(const NodeSmithHost& host) {
    const auto* annotation = find(host.metadata.annotations, annotations::kAdopt);
    return annotation && *annotation == "true";
}

}  // namespace api::v1alpha1

namespace api {

template const Type& type_of<v1alpha1::HostPhase>();
template const Type& type_of<v1alpha1::NodeSmithHost>();

}  // namespace api

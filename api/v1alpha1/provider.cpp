#include "api/v1alpha1/provider.hpp"

#include "api/v1alpha1/external_types.hpp"

namespace api::v1alpha1 {

BOOST_DESCRIBE_STRUCT(VMIDRange, (), (lower, upper))
BOOST_DESCRIBE_STRUCT(NetworkInterface, (), (name, model, bridge, vlanTag, macPrefix))
BOOST_DESCRIBE_STRUCT(VMOption, (), (name, value))
BOOST_DESCRIBE_ENUM(PlacementStrategy, Spread, MaxMemory, MaxCPU, Balanced, RoundRobin, Unrecognized)
BOOST_DESCRIBE_STRUCT(HostReserved, (), (cpuCores, memoryMiB))
BOOST_DESCRIBE_STRUCT(Placement, (),
                      (strategy, excludedNodes, evacuateNodes, minAvailable, cpuAllocationPercent,
                       memoryAllocationPercent, storageAllocationPercent, storageReservedPercent,
                       hostReserved, maxConcurrentClonesPerNode, zoneLabel))
BOOST_DESCRIBE_ENUM(CloneMode, Auto, Linked, Full, Unrecognized)
BOOST_DESCRIBE_STRUCT(BootDisk, (), (device, sizeGiB))
BOOST_DESCRIBE_STRUCT(TemplateImage, (), (url, checksum, storage, downloadStorage))
BOOST_DESCRIBE_STRUCT(Template, (),
                      (name, vmid, matchTags, image, cloneMode, storage, format, localStorage, bootDisk))
BOOST_DESCRIBE_ENUM(NetworkMode, DHCP, Static, Unrecognized)
BOOST_DESCRIBE_STRUCT(IPv6Network, (), (addresses, prefixLength, gateway))
BOOST_DESCRIBE_STRUCT(NetworkRoute, (), (to, via))
BOOST_DESCRIBE_STRUCT(FurtherInterface, (),
                      (name, networkName, mode, addresses, prefixLength, ipv6, mtu, routes))
BOOST_DESCRIBE_STRUCT(MachineNetwork, (),
                      (name, mode, addresses, prefixLength, gateway, nameservers, searchDomains, interface,
                       ipv6, mtu, routes, interfaces))
BOOST_DESCRIBE_STRUCT(CustomCloudInit, (), (user, network, meta, vendor))
BOOST_DESCRIBE_STRUCT(CloudInit, (),
                      (user, sshAuthorizedKeys, sshAuthorizedKeysSecretRef, upgradePackages,
                       userDataSecretRef, isoStorage, network, custom))
BOOST_DESCRIBE_STRUCT(GuestAgentSettings, (), (readyTimeout, pollInterval))
BOOST_DESCRIBE_ENUM(ProviderIDFormat, Cluster, Region, Unrecognized)
BOOST_DESCRIBE_STRUCT(ProxmoxSpec, (),
                      (endpoint, endpoints, tls, nodeWhitelist, vmIDRange, managedNodeTag, region,
                       providerIDFormat, vmMemOverheadMiB, networkInterfaces, vmOptions, resourcePool,
                       placement, template_, cloudInit, guestAgent))

BOOST_DESCRIBE_ENUM(BootMethod, Disk, PXE, UefiHttp, VirtualMedia, Unrecognized)
BOOST_DESCRIBE_ENUM(BootMode, UEFI, Legacy, Unrecognized)
BOOST_DESCRIBE_ENUM(PowerOffMode, GracefulThenForce, GracefulOnly, Force, Unrecognized)
BOOST_DESCRIBE_ENUM(WipeMode, None, SecureErase, Unrecognized)
BOOST_DESCRIBE_ENUM(HostSelection, BestFit, Priority, Spread, Unrecognized)
BOOST_DESCRIBE_STRUCT(Boot, (), (method, mode, imageURL, httpBootURI))
BOOST_DESCRIBE_STRUCT(PowerOff, (), (mode, gracefulTimeout, ejectMedia, wipe))
BOOST_DESCRIBE_STRUCT(RedfishTimeouts, (), (connect, request, power))
BOOST_DESCRIBE_STRUCT(RedfishConcurrency, (), (global, perBMC, powerOns, powerOnsPerGroup, groupLabel))
BOOST_DESCRIBE_STRUCT(RedfishPolling, (), (idle, active))
BOOST_DESCRIBE_ENUM(HostLockField, None, AssetTag, Unrecognized)
BOOST_DESCRIBE_STRUCT(RedfishHostLock, (), (field, freeValues))
BOOST_DESCRIBE_STRUCT(RedfishSpec, (),
                      (hostSelector, boot, powerOff, timeouts, selection, spreadLabel, concurrency, polling,
                       hostLock))

BOOST_DESCRIBE_ENUM(ProviderType, proxmox, redfish, Unrecognized)
BOOST_DESCRIBE_STRUCT(ProviderSpec, (),
                      (type, credentialsSecretRef, additionalSettings, orphanGracePeriod, proxmox, redfish))
BOOST_DESCRIBE_STRUCT(ProviderHost, (),
                      (name, online, evacuating, cpuCores, memoryMiB, freeCPUCores, freeMemoryMiB,
                       largestMachine, machines, machineIDs, message))
BOOST_DESCRIBE_STRUCT(ProviderTemplate, (), (host, revision))
BOOST_DESCRIBE_STRUCT(ProviderCluster, (), (name, id))
BOOST_DESCRIBE_STRUCT(ProviderStatus, (),
                      (observedGeneration, conditions, endpoint, version, machines, hosts, templates, cluster,
                       bootDiskGiB, protectedSecret))
BOOST_DESCRIBE_STRUCT(NodeSmithProvider, (), (metadata, spec, status))

}  // namespace api::v1alpha1

namespace api {

template const Type& type_of<v1alpha1::CloudInit>();
template const Type& type_of<v1alpha1::MachineNetwork>();
template const Type& type_of<v1alpha1::NodeSmithProvider>();
template const Type& type_of<v1alpha1::ProviderType>();
template const Type& type_of<v1alpha1::ProxmoxSpec>();
template const Type& type_of<v1alpha1::Template>();

}  // namespace api

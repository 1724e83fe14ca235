#include "api/v1alpha1/common.hpp"

#include "api/external_types.hpp"
#include "api/v1alpha1/bootstrap.hpp"

namespace api::v1alpha1 {

BOOST_DESCRIBE_STRUCT(SecretReference, (), (name, namespace_))
BOOST_DESCRIBE_STRUCT(SecretKeyReference, (), (name, key))
BOOST_DESCRIBE_STRUCT(TlsConfig, (), (caBundle, fingerprintSHA256, insecureSkipVerify))
BOOST_DESCRIBE_STRUCT(Size, (), (cpuCores, memoryMiB))
BOOST_DESCRIBE_STRUCT(Reserved, (), (nodes, cpuCores, memoryMiB, time))
BOOST_DESCRIBE_ENUM(DeletionPolicy, Delete, Retain, Unrecognized)
BOOST_DESCRIBE_ENUM(BootstrapMethod, None, CloudInit, GuestAgent, Unrecognized)
BOOST_DESCRIBE_ENUM(BootstrapFormat, Kubeadm, K3s, RKE2, K0s, Talos, Custom, Unrecognized)
BOOST_DESCRIBE_ENUM(BootstrapUserData, CloudConfig, Ignition, Unrecognized)
BOOST_DESCRIBE_ENUM(BootstrapDelivery, ISO, HTTP, Unrecognized)
BOOST_DESCRIBE_ENUM(BootstrapApproval, Operator, Cluster, Unrecognized)
BOOST_DESCRIBE_STRUCT(Kubelet, (), (extraArgs, maxPods, cloudProviderExternal))
BOOST_DESCRIBE_STRUCT(Bootstrap, (),
                      (method, format, apiServerEndpoint, delivery, tokenTTL, approval, commandSecretRef,
                       machineConfigSecretRef, userData, version, kubelet, readyCommand, acceptDegraded,
                       execTimeout, servingNetworks))

}  // namespace api::v1alpha1

namespace api {

template const Type& type_of<v1alpha1::SecretReference>();
template const Type& type_of<v1alpha1::SecretKeyReference>();
template const Type& type_of<v1alpha1::TlsConfig>();
template const Type& type_of<v1alpha1::Size>();
template const Type& type_of<v1alpha1::Reserved>();
template const Type& type_of<v1alpha1::DeletionPolicy>();
template const Type& type_of<v1alpha1::Bootstrap>();
template const Type& type_of<v1alpha1::Kubelet>();

}  // namespace api

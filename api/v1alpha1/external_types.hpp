// Shared parts of our kinds, described in types.cpp. Only api/v1alpha1/*.cpp include it.
#pragma once
#include "api/external_types.hpp"
#include "api/v1alpha1/bootstrap.hpp"
#include "api/v1alpha1/common.hpp"
#include "api/v1alpha1/proxmox.hpp"

namespace api {

extern template const Type& type_of<v1alpha1::SecretReference>();
extern template const Type& type_of<v1alpha1::SecretKeyReference>();
extern template const Type& type_of<v1alpha1::TlsConfig>();
extern template const Type& type_of<v1alpha1::Size>();
extern template const Type& type_of<v1alpha1::Reserved>();
extern template const Type& type_of<v1alpha1::DeletionPolicy>();
extern template const Type& type_of<v1alpha1::Bootstrap>();
extern template const Type& type_of<v1alpha1::MachineNetwork>();

}  // namespace api

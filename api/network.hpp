// Addresses used by the cluster itself, which machines must not claim: core/v1, discovery.k8s.io/v1 and
// networking.k8s.io/v1.
#pragma once
#include <string>
#include <vector>

#include "api/meta.hpp"
#include "api/resource.hpp"

namespace api {

struct ServiceSpec {
    std::vector<std::string> clusterIPs;
    bool operator==(const ServiceSpec&) const = default;
};

struct Service {
    static constexpr Resource kResource{"", "v1", "services", "Service"};
    ObjectMeta metadata;
    ServiceSpec spec;
    bool operator==(const Service&) const = default;
};

struct Endpoint {
    std::vector<std::string> addresses;
    bool operator==(const Endpoint&) const = default;
};

struct EndpointSlice {
    static constexpr Resource kResource{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"};
    ObjectMeta metadata;
    std::vector<Endpoint> endpoints;
    bool operator==(const EndpointSlice&) const = default;
};

struct ServiceCIDRSpec {
    std::vector<std::string> cidrs;
    bool operator==(const ServiceCIDRSpec&) const = default;
};

// ServiceCIDR exists since Kubernetes 1.33.
struct ServiceCIDR {
    static constexpr Resource kResource{"networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR"};
    ObjectMeta metadata;
    ServiceCIDRSpec spec;
    bool operator==(const ServiceCIDR&) const = default;
};

}  // namespace api

#include "api/network.hpp"

#include "api/describe.hpp"
#include "api/external_types.hpp"

namespace api {

BOOST_DESCRIBE_STRUCT(ServiceSpec, (), (clusterIPs))
BOOST_DESCRIBE_STRUCT(Service, (), (metadata, spec))
BOOST_DESCRIBE_STRUCT(Endpoint, (), (addresses))
BOOST_DESCRIBE_STRUCT(EndpointSlice, (), (metadata, endpoints))
BOOST_DESCRIBE_STRUCT(ServiceCIDRSpec, (), (cidrs))
BOOST_DESCRIBE_STRUCT(ServiceCIDR, (), (metadata, spec))

template const Type& type_of<Service>();
template const Type& type_of<EndpointSlice>();
template const Type& type_of<ServiceCIDR>();

}  // namespace api

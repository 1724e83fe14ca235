#include "api/certificates.hpp"

#include "api/describe.hpp"
#include "api/external_types.hpp"

namespace api {

BOOST_DESCRIBE_STRUCT(CertificateSigningRequestSpec, (), (request, signerName, usages, username, groups))
BOOST_DESCRIBE_STRUCT(CertificateSigningRequestCondition, (), (type, status, reason, message))
BOOST_DESCRIBE_STRUCT(CertificateSigningRequestStatus, (), (conditions))
BOOST_DESCRIBE_STRUCT(CertificateSigningRequest, (), (metadata, spec, status))

template const Type& type_of<CertificateSigningRequest>();

}  // namespace api

// Requests for certificates, as far as a kubelet's are judged by them: certificates.k8s.io/v1.
#pragma once

#include <string>
#include <vector>

#include "api/bytes.hpp"
#include "api/meta.hpp"
#include "api/resource.hpp"

namespace api {

struct CertificateSigningRequestSpec {
    Bytes request;  // PKCS#10 as PEM
    std::string signerName;
    std::vector<std::string> usages;
    // Who asks; the API server writes both, and overwrites what the client put there.
    std::string username;
    std::vector<std::string> groups;
    bool operator==(const CertificateSigningRequestSpec&) const = default;
};

struct CertificateSigningRequestCondition {
    std::string type;  // Approved, Denied or Failed
    std::string status;
    std::string reason;
    std::string message;
    bool operator==(const CertificateSigningRequestCondition&) const = default;
};

struct CertificateSigningRequestStatus {
    std::vector<CertificateSigningRequestCondition> conditions;
    bool operator==(const CertificateSigningRequestStatus&) const = default;
};

struct CertificateSigningRequest {
    static constexpr Resource kResource{"certificates.k8s.io", "v1", "certificatesigningrequests",
                                        "CertificateSigningRequest", false};
    ObjectMeta metadata;
    CertificateSigningRequestSpec spec;
    CertificateSigningRequestStatus status;
    bool operator==(const CertificateSigningRequest&) const = default;
};

}  // namespace api

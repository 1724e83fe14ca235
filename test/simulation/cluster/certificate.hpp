// The certificate of the modelled cluster's authority, whose key no longer exists.
#pragma once

namespace simulation {

inline constexpr const char* kCertificate =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBgTCCASegAwIBAgIUEhYpaoZedigmf/qfqiIv8spVCsMwCgYIKoZIzj0EAwIw\n"
    "FTETMBEGA1UEAwwKa3ViZXJuZXRlczAgFw0yNjExMjEwOTE1MDhaGA8yMTI2MTAy\n"
    "ODA5MTUwOFowFTETMBEGA1UEAwwKa3ViZXJuZXRlczBZMBMGByqGSM49AgEGCCqG\n"
    "SM49AwEHA0IABIuOoD+om9XmPCNjsYKlPw5pwogLuPKmSuhJnHtDCyFJp5j9MEHm\n"
    "rUl146ahF+WczDThSzZC42CIeufH0HZEClyjUzBRMB0GA1UdDgQWBBRVXYgP3ZyJ\n"
    "3od2+y8lQ5ZfYlQ+jzAfBgNVHSMEGDAWgBRVXYgP3ZyJ3od2+y8lQ5ZfYlQ+jzAP\n"
    "BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQDENSuH/4nBVhU5lobr\n"
    "Y89ylyy0dPuFY6RS5WJnSHLtoQIgbOgkswy2/7rDm7yC2Lk7x1LlC55iWc5wnsLD\n"
    "nniOm3Q=\n"
    "-----END CERTIFICATE-----\n";

}  // namespace simulation
